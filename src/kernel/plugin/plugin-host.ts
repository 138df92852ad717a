import { suggestion } from '../../base/suggestion.ts'
import { MillraceError } from '../errors/millrace-error.ts'
import { Clock, Timers } from '../ports/clock.ts'
import { Lifecycle } from '../ports/lifecycle.ts'
import { orderBindings } from './binding-order.ts'
import { blaming } from './blaming.ts'
import { BindingRegistry } from './binding-registry.ts'
import { checkComposition } from './composition-check.ts'
import { type Made, makeAll } from './container.ts'
import { type Plugin } from './define-plugin.ts'
import { LifecycleRunner, type Runnable } from './lifecycle-runner.ts'
import { parsePluginSettings } from './plugin-settings.ts'
import { type Token, tokenName } from './token.ts'

/** A composition, and its settings. */
export interface HostOptions {
  /** In the order in which contributions of equal standing are listed. */
  readonly plugins: readonly Plugin[]
  /** Settings by plugin name. A name that no plugin has is refused. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** How long a stop may take in all. */
  readonly stopDeadlineMs?: number
}

/** A composition that was checked and made, and can be started once. */
export interface PluginHost {
  start(): Promise<void>
  /** Resolves with what did not stop in order or in time; never rejects; may be called at any time and again. */
  stop(): Promise<readonly MillraceError[]>
  /** For composition roots alone: plugins are given what they need, and never ask. */
  get<T>(port: Token<T>): T
  all<T>(port: Token<T>): readonly T[]
}

/** The error for settings of a plugin that is not there. */
export function settingsOfNobody(name: string, plugins: readonly Plugin[]): MillraceError {
  const near = suggestion(name, plugins.map((plugin) => plugin.name)) || '; name it under `plugins`, or take its settings out'
  return new MillraceError('MR_HOST_PLUGIN_NOT_FOUND', { plugin: name, reason: 'it has settings, and is not part of the composition', suggestion: near })
}

/**
 * Checks the whole composition, then makes every object. Nothing has run yet when it returns; what is wrong is one MillraceError
 * of area MR_HOST that names the plugin, the key or port, and the remedy.
 */
export function createHost(options: HostOptions): PluginHost {
  const { plugins, settings = {}, stopDeadlineMs = 10_000 } = options
  checkComposition(plugins)
  for (const name of Object.keys(settings)) {
    if (!plugins.some((plugin) => plugin.name === name)) {
      throw settingsOfNobody(name, plugins)
    }
  }
  const registry = new BindingRegistry()
  for (const plugin of plugins) {
    const config = parsePluginSettings(plugin, settings[plugin.name])
    blaming(plugin, 'its register', () => { plugin.register(registry.binderFor(plugin), config as never) })
  }
  registry.checkComplete(plugins)
  const ordered = orderBindings(registry.resolve())
  const made = makeAll(ordered)
  const runnables: Runnable[] = ordered
    .filter((binding) => binding.as.includes(Lifecycle))
    .map((binding) => ({ plugin: binding.plugin.name, lifecycle: made.instances.get(binding.self) as Lifecycle }))
  return new Host(made, runnables, stopDeadlineMs)
}

class Host implements PluginHost {
  readonly #made: Made
  readonly #runner: LifecycleRunner
  readonly #stopDeadlineMs: number
  #stopping: Promise<readonly MillraceError[]> | undefined

  constructor(made: Made, runnables: readonly Runnable[], stopDeadlineMs: number) {
    this.#made = made
    this.#runner = new LifecycleRunner(runnables, { clock: this.get(Clock), timers: this.get(Timers) })
    this.#stopDeadlineMs = stopDeadlineMs
  }

  start(): Promise<void> {
    return this.#runner.start(this.#stopDeadlineMs)
  }

  stop(): Promise<readonly MillraceError[]> {
    this.#stopping ??= this.#runner.stop(this.#stopDeadlineMs)
    return this.#stopping
  }

  get<T>(port: Token<T>): T {
    const [first] = this.all(port)
    if (first === undefined) throw new MillraceError('MR_HOST_PORT_MISSING', { plugin: 'the composition root', port: tokenName(port) })
    return first
  }

  all<T>(port: Token<T>): readonly T[] {
    return (this.#made.byPort.get(port) ?? []) as readonly T[]
  }
}
