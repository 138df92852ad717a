import { MillraceError } from '../errors/millrace-error.ts'
import { type Binding, portOf } from './binding-registry.ts'
import { type AnyToken } from './token.ts'

/**
 * Bindings in an order in which each comes after all that it needs; of those that are free, the order of the plugins. This is the
 * order of making and of starting; stopping is its reverse. A circle is refused with its members named.
 */
export function orderBindings(bindings: readonly Binding[]): readonly Binding[] {
  const offers = new Map<AnyToken, Binding[]>()
  for (const binding of bindings) {
    for (const port of [binding.self, ...binding.as]) offers.set(port, [...(offers.get(port) ?? []), binding])
  }
  const ordered: Binding[] = []
  const state = new Map<Binding, 'visiting' | 'done'>()
  const path: Binding[] = []
  const visit = (binding: Binding): void => {
    if (state.get(binding) === 'done') return
    path.push(binding)
    if (state.get(binding) === 'visiting') throw circle(path)
    state.set(binding, 'visiting')
    for (const need of binding.needs) {
      for (const provider of offers.get(portOf(need)) ?? []) visit(provider)
    }
    path.pop()
    state.set(binding, 'done')
    ordered.push(binding)
  }
  for (const binding of bindings) visit(binding)
  return ordered
}

function circle(path: readonly Binding[]): MillraceError {
  const start = path.indexOf(path.at(-1)!)
  const names = path.slice(start).map((binding) => binding.self.description ?? binding.plugin.name)
  return new MillraceError('MR_HOST_CYCLE', { cycle: names.join(' -> ') })
}
