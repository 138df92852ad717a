import 'reflect-metadata'
import { Container } from 'inversify'
import { blaming } from './blaming.ts'
import { type Binding } from './binding-registry.ts'
import { type AnyToken, type Need } from './token.ts'

type Injection = AnyToken | { serviceIdentifier: AnyToken, isMultiple: true } | { serviceIdentifier: AnyToken, optional: true }

/** The only place that names inversify: bindings in, objects out. Nobody sees the container after boot. */
export function makeAll(ordered: readonly Binding[]): Made {
  const container = new Container({ defaultScope: 'Singleton' })
  for (const binding of ordered) {
    container.bind(binding.self)
      .toResolvedValue(binding.create as (...given: unknown[]) => unknown, binding.needs.map(injection) as never)
      .inSingletonScope()
    for (const port of binding.as) container.bind(port).toService(binding.self)
  }
  const instances = new Map<AnyToken, unknown>()
  for (const binding of ordered) instances.set(binding.self, blaming(binding.plugin, 'what it binds', () => container.get(binding.self)))
  const byPort = new Map<AnyToken, unknown[]>()
  for (const binding of ordered) {
    for (const port of binding.as) byPort.set(port, [...(byPort.get(port) ?? []), instances.get(binding.self)])
  }
  return { instances, byPort }
}

export interface Made {
  readonly instances: ReadonlyMap<AnyToken, unknown>
  readonly byPort: ReadonlyMap<AnyToken, readonly unknown[]>
}

function injection(need: Need): Injection {
  if (typeof need === 'symbol') return need
  return 'every' in need
    ? { serviceIdentifier: need.every, isMultiple: true }
    : { serviceIdentifier: need.maybe, optional: true }
}
