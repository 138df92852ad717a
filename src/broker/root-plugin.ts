import { z } from 'zod'
import { definePlugin, type Plugin } from '../kernel/plugin/define-plugin.ts'
import { BrokerIdentity } from '../kernel/ports/broker-identity.ts'
import { BrokerSettings } from '../kernel/ports/broker-settings.ts'
import { BrokerState, FatalErrors } from '../kernel/ports/lifecycle.ts'

export interface Root {
  readonly settings: BrokerSettings
  readonly identity: BrokerIdentity
  readonly state: BrokerState
  readonly fatalErrors: FatalErrors
}

/** What only the composition root knows, offered to the plugins like anything else. */
export function rootPlugin(root: Root): Plugin {
  return definePlugin({
    name: 'broker',
    contract: 1,
    summary: 'The broker itself: its settings, its identity, whether it is ready, and its end.',
    provides: [BrokerSettings, BrokerIdentity, BrokerState, FatalErrors],
    config: z.object({}),
    register({ provide }) {
      provide([BrokerSettings], [], () => root.settings)
      provide([BrokerIdentity], [], () => root.identity)
      provide([BrokerState], [], () => root.state)
      provide([FatalErrors], [], () => root.fatalErrors)
    },
  })
}
