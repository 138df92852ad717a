export { Broker } from './broker.ts'
export { defineConfig, type BrokerOptions, type PluginChoice, type PresetName } from './broker-options.ts'
export { composeBroker, createBroker, type ComposedBroker, type Composition } from './create-broker.ts'
