export { createTestBroker } from './create-test-broker.ts'
export { createSimBroker, SimBroker, type SimBrokerOptions } from './sim-broker.ts'
