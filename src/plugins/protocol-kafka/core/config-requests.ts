import { MillraceError } from '../../../kernel/errors/millrace-error.ts'
import { type ConfigAlteration, type ConfigChange } from '../../../kernel/ports/controller.ts'
import { resourceTypes } from './config-codes.ts'

/** A resource of IncrementalAlterConfigs, or of AlterConfigs, where the changes have no operation. */
export interface AskedResource {
  readonly resourceType: number
  readonly resourceName: string
  readonly configs: readonly { readonly name: string, readonly configOperation?: number, readonly value: string | null }[]
}

/** Kafka's AlterConfigOp.OpType, by its number. */
const operations: readonly ConfigChange['operation'][] = ['set', 'delete', 'append', 'subtract']

export const sameResource = ({ resourceType, resourceName }: AskedResource): string => `${resourceType}:${resourceName}`

/** What the controller is to change. Throws what refuses a resource for its kind or for an operation that nobody knows. */
export function toAlteration(resource: AskedResource, replaces: boolean, nodeId: number): ConfigAlteration {
  const { resourceType, resourceName, configs } = resource
  if (resourceType !== resourceTypes.topic) throw notAlterable(resource, nodeId)
  const changes = configs.map(({ name, configOperation = 0, value }): ConfigChange => {
    const operation = operations[configOperation]
    if (operation === undefined) throw wrong(`topic ${resourceName}`, `${name} comes with operation ${configOperation}, which nobody knows; 0 sets, 1 deletes, 2 appends, 3 subtracts`)
    return { name, operation, value }
  })
  return { topic: resourceName, replaces, changes }
}

function notAlterable({ resourceType, resourceName }: AskedResource, nodeId: number): MillraceError {
  if (resourceType === resourceTypes.group) return wrong(`group ${resourceName}`, 'groups have no settings of their own here; those of the broker count for all of them')
  if (resourceType !== resourceTypes.broker) return new MillraceError('MR_CONFIG_RESOURCE', { reason: `resources of type ${resourceType} have none that can be changed here` })
  if (resourceName === '') return wrong('all brokers', 'they are read when a broker starts: set them in its configuration, and restart it')
  if (resourceName !== String(nodeId)) return new MillraceError('MR_CONFIG_RESOURCE', { reason: `this is broker ${nodeId}, not ${resourceName}` })
  return wrong(`broker ${resourceName}`, 'they are read when it starts: set them in its configuration, and restart it')
}

const wrong = (resource: string, reason: string): MillraceError => new MillraceError('MR_CONFIG_CHANGE_INVALID', { resource, reason })
