import type { z } from 'zod'
import { type Binder } from './binder.ts'
import { contractVersion } from './contract-version.ts'
import { type AnyToken, type Need } from './token.ts'

/** Named abilities beyond a port's contract, for others to depend on: `{ durable: true, compaction: false }`. */
export type Capabilities = Readonly<Record<string, boolean>>

/** An ability that a plugin depends on. */
export interface CapabilityNeed {
  /** Of the plugin that provides this port. */
  readonly port: AnyToken
  readonly capability: string
  /** Why, for the message when it is missing. */
  readonly reason: string
}

/** A port that a plugin stands before. */
export interface Decoration {
  readonly port: AnyToken
  /** Larger is further out, nearer to those who use the port. Equal numbers keep the order of the plugins. */
  readonly order: number
}

/** What a plugin says of itself. The host checks it against the others before anything of it runs, and refuses with an MR_HOST code that names plugin and remedy. */
export interface PluginDefinition<S extends z.ZodObject> {
  /** Lower case words with dashes; the name under which its settings stand in the configuration. */
  readonly name: string
  /** The version of the kernel's contract that it was written for. */
  readonly contract: number
  /** What it does, in one sentence, for `config print` and the docs. */
  readonly summary: string
  /** Single ports: one provider each in a composition. */
  readonly provides?: readonly AnyToken[]
  /** Multi-bound tokens: Lifecycle, HealthCheck, AdminRoute, ProtocolHandler, … */
  readonly contributes?: readonly AnyToken[]
  /** Ports that `register` asks for: somebody in the composition must provide each, but for those in `maybe`. These start before it, and stop after it. */
  readonly requires?: readonly Need[]
  /** Ports that somebody else provides, and that it stands before. */
  readonly decorates?: readonly Decoration[]
  /** What it promises beyond its ports; what is not named counts as false. */
  readonly capabilities?: Capabilities
  /** What it cannot do without: a composition that lacks it is refused. */
  readonly needsCapabilities?: readonly CapabilityNeed[]
  /** Every key carries a description, a default or is required; unknown keys are refused. */
  readonly config: S
  /** Binds; called once, with checked settings, before anything is made. */
  register(binder: Binder, config: z.output<S>): void
}

/** A plugin as the host takes it, whatever its settings' type. */
export type Plugin = Omit<PluginDefinition<z.ZodObject>, 'register'> & {
  register(binder: Binder, config: never): void
}

/**
 * Declares a plugin. It only says what it is; `createHost` checks it against the others before anything of it runs.
 * A package offers one as the export `plugin`.
 */
export function definePlugin<S extends z.ZodObject>(definition: PluginDefinition<S>): Plugin {
  return definition as unknown as Plugin
}

export { contractVersion }
