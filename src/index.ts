/** The public names of millrace. */
export { createBroker, defineConfig, Broker, type BrokerOptions, type PluginChoice, type PresetName } from './broker/index.ts'
export {
  definePlugin, every, maybe, token, isMillraceError, MillraceError, errorTable,
  type ErrorCode, type Plugin, type PluginDefinition, type Token,
} from './kernel/index.ts'
