/** Bits of Kafka's AclOperation codes, as Metadata and DescribeCluster send them. */
const bits = (...codes: number[]): number => codes.reduce((all, code) => all | (1 << code), 0)

const read = 3
const write = 4
const create = 5
const remove = 6
const alter = 7
const describe = 8
const clusterAction = 9
const describeConfigs = 10
const alterConfigs = 11
const idempotentWrite = 12

/** Nobody asked (quirk 24). */
export const operationsNotAsked = -0x8000_0000
/** Without an authorizer everybody may do everything that can be done to a topic, or to the cluster. */
export const topicOperations = bits(read, write, create, remove, alter, describe, describeConfigs, alterConfigs)
export const clusterOperations = bits(create, alter, describe, clusterAction, describeConfigs, alterConfigs, idempotentWrite)
