import { MillraceError } from '../errors/millrace-error.ts'
import { Lifecycle } from '../ports/lifecycle.ts'
import { type Binder } from './binder.ts'
import { type Plugin } from './define-plugin.ts'
import { type AnyToken, type Need, tokenName } from './token.ts'

/** One object to be made: who binds it, under which tokens, from what. `self` is its own private token. */
export interface Binding {
  readonly plugin: Plugin
  readonly self: AnyToken
  readonly as: readonly AnyToken[]
  /** The ports that it implements: those of `as`, and the one that decorators took from it. */
  readonly is: readonly AnyToken[]
  readonly needs: readonly Need[]
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the types were checked at the plugin's call
  readonly create: (...given: any[]) => unknown
}

interface Decorator extends Omit<Binding, 'as' | 'is'> {
  readonly port: AnyToken
  readonly order: number
  readonly alsoAs: readonly AnyToken[]
}

/** Collects what plugins bind, and holds each to what it declared. */
export class BindingRegistry {
  readonly #bindings: Binding[] = []
  readonly #decorators: Decorator[] = []

  binderFor(plugin: Plugin): Binder {
    return {
      provide: (as, needs, create) => {
        for (const port of as) this.#checkOffer(plugin, port)
        this.#checkNeeds(plugin, needs)
        const self = Symbol(`${plugin.name}: ${as.map(tokenName).join('+')}`) as AnyToken
        this.#bindings.push({ plugin, self, as, is: as, needs, create: create as Binding['create'] })
      },
      decorate: (port, needs, create, alsoAs = []) => {
        const declared = plugin.decorates?.find((decoration) => decoration.port === port)
        if (declared === undefined) throw undeclared(plugin, `decorates ${tokenName(port)} without declaring it`)
        for (const token of alsoAs) this.#checkOffer(plugin, token)
        this.#checkNeeds(plugin, needs)
        const self = Symbol(`${plugin.name}: decorator of ${tokenName(port)}`) as AnyToken
        this.#decorators.push({ plugin, self, port, order: declared.order, needs, create: create as Binding['create'], alsoAs })
      },
    }
  }

  /** What was declared and not bound is a fault too: others counted on it. */
  checkComplete(plugins: readonly Plugin[]): void {
    for (const plugin of plugins) {
      for (const port of plugin.provides ?? []) {
        const bound = this.#bindings.some((binding) => binding.plugin === plugin && binding.as.includes(port))
        if (!bound) throw undeclared(plugin, `declares that it provides ${tokenName(port)} and does not bind it`)
      }
      for (const { port } of plugin.decorates ?? []) {
        const bound = this.#decorators.some((decorator) => decorator.plugin === plugin && decorator.port === port)
        if (!bound) throw undeclared(plugin, `declares that it decorates ${tokenName(port)} and does not`)
      }
    }
  }

  /** All bindings with decorators folded in: the port's own binding moves behind a private token, the outermost carries the port. */
  resolve(): readonly Binding[] {
    const result = [...this.#bindings]
    const byPort = new Map<AnyToken, Decorator[]>()
    for (const decorator of this.#decorators) {
      byPort.set(decorator.port, [...(byPort.get(decorator.port) ?? []), decorator])
    }
    for (const [port, decorators] of byPort) {
      decorators.sort((left, right) => left.order - right.order)
      const at = result.findIndex((binding) => binding.as.includes(port))
      const base = result[at]!
      result[at] = { ...base, as: base.as.filter((token) => token !== port) }
      let inner = base.self
      decorators.forEach((decorator, index) => {
        const outermost = index === decorators.length - 1
        result.push({ ...decorator, needs: [inner, ...decorator.needs], is: [port, ...decorator.alsoAs], as: outermost ? [port, ...decorator.alsoAs] : decorator.alsoAs })
        inner = decorator.self
      })
    }
    return result
  }

  #checkOffer(plugin: Plugin, port: AnyToken): void {
    const declared = port === Lifecycle || plugin.provides?.includes(port) || plugin.contributes?.includes(port)
    if (!declared) throw undeclared(plugin, `binds ${tokenName(port)} without declaring it in provides or contributes`)
  }

  #checkNeeds(plugin: Plugin, needs: readonly Need[]): void {
    for (const need of needs) {
      const declared = plugin.requires?.some((required) => portOf(required) === portOf(need)) || plugin.provides?.includes(portOf(need))
      if (!declared) throw undeclared(plugin, `asks for ${tokenName(portOf(need))} without declaring it in requires`)
    }
  }
}

export function portOf(need: Need): AnyToken {
  if (typeof need === 'symbol') return need
  return 'every' in need ? need.every : need.maybe
}

const undeclared = (plugin: Plugin, reason: string): MillraceError =>
  new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: plugin.name, reason: `it ${reason}` })
