import 'reflect-metadata'
import { Container } from 'inversify'
import { MillraceError } from '../errors/millrace-error.ts'
import { blaming } from './blaming.ts'
import { type Binding } from './binding-registry.ts'
import { type AnyToken, methodsOf, type Need, tokenName } from './token.ts'

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
  for (const binding of ordered) {
    const instance = blaming(binding.plugin, 'what it binds', () => container.get(binding.self))
    checkMethods(binding, instance)
    instances.set(binding.self, instance)
  }
  const byPort = new Map<AnyToken, unknown[]>()
  for (const binding of ordered) {
    for (const port of binding.as) byPort.set(port, [...(byPort.get(port) ?? []), instances.get(binding.self)])
  }
  return { instances, byPort }
}

/** Before anybody is given it: a call of what is not there would fail in the name of the plugin that calls. */
function checkMethods({ plugin, is }: Binding, instance: unknown): void {
  for (const port of is) {
    const missing = methodsOf(port).filter((method) => typeof (instance as Record<string, unknown> | null | undefined)?.[method] !== 'function')
    if (missing.length === 0) continue
    const [noun, it] = missing.length === 1 ? ['method', 'it'] : ['methods', 'them']
    throw new MillraceError('MR_HOST_PLUGIN_INVALID', {
      plugin: plugin.name, reason: `what it gives as ${tokenName(port)} lacks the ${noun} ${missing.join(', ')} of that port; add ${it}, or install a release of the plugin that has ${it}`,
    })
  }
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
