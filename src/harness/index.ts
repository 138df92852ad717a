export { createTestBroker } from './create-test-broker.ts'
