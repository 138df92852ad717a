import { repeated } from '../../base/repeated.ts'
import { isMillraceError, MillraceError, withoutStacks } from '../../kernel/errors/index.ts'
import { type AlteredConfigs, type ConfigAlteration, type Controller } from '../../kernel/ports/controller.ts'
import { type Exchange } from '../../kernel/ports/protocol-handler.ts'
import { type Logger } from '../../kernel/ports/telemetry.ts'
import { kafkaErrors } from '../../wire/kafka-error-codes.ts'
import { sameResource, toAlteration, type AskedResource } from './core/config-requests.ts'
import { type ServingTools } from './serving-tools.ts'
import { tellError } from './tell-error.ts'
import { withDeadline } from './with-deadline.ts'

/** The requests say nothing of how long their clients wait; so long most do. */
const waitMs = 30_000

/** The answer for one resource, the same in both APIs. */
export interface AlteredResource {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly resourceType: number
  readonly resourceName: string
}

export interface AlterRequest {
  readonly resources: readonly AskedResource[]
  readonly validateOnly: boolean
  /** What is not named goes back to its default. */
  readonly replaces: boolean
}

/** What AlterConfigs and IncrementalAlterConfigs do alike: one answer for each resource that was asked for, in their order. */
export class ConfigAlterer {
  private readonly controller: Pick<Controller, 'alterConfigs'>
  private readonly nodeId: number
  private readonly tools: ServingTools
  private readonly logger: Logger

  constructor(controller: Pick<Controller, 'alterConfigs'>, nodeId: number, tools: ServingTools, logger: Logger) {
    this.controller = controller
    this.nodeId = nodeId
    this.tools = tools
    this.logger = logger
  }

  alter(request: AlterRequest, exchange: Exchange): void {
    const { resources, validateOnly } = request
    const twice = repeated(resources.map(sameResource))
    const read = withoutStacks(() => resources.map((resource) => this.read(resource, request, twice)))
    const wanted = read.filter((each): each is ConfigAlteration => !isMillraceError(each))
    const reply = (error: unknown, altered: readonly AlteredConfigs[] = []): void => {
      const results = [...altered]
      const responses = resources.map((resource, index) => {
        const refusal = read[index]
        if (isMillraceError(refusal)) return this.failed(resource, refusal, exchange)
        return this.answer(resource, results.shift() ?? { error, warnings: [] }, request, exchange)
      })
      exchange.reply({ throttleTimeMs: 0, responses })
    }
    if (wanted.length === 0) reply(undefined)
    else withDeadline(this.tools.deadlines, waitMs, this.controller.alterConfigs(wanted, validateOnly), reply)
  }

  private read(resource: AskedResource, { replaces }: AlterRequest, twice: ReadonlySet<string>): ConfigAlteration | MillraceError {
    try {
      if (twice.has(sameResource(resource))) throw new MillraceError('MR_CONFIG_CHANGE_INVALID', { resource: resource.resourceName, reason: 'it is named more than once in the request; name it once' })
      return toAlteration(resource, replaces, this.nodeId)
    } catch (error) {
      if (isMillraceError(error)) return error
      throw error
    }
  }

  private answer(resource: AskedResource, { error, warnings }: { readonly error: unknown, readonly warnings: readonly string[] }, request: AlterRequest, exchange: Exchange): AlteredResource {
    if (error !== undefined) return this.failed(resource, error, exchange)
    const topic = resource.resourceName
    for (const warning of request.validateOnly ? [] : warnings) this.logger.warn(`topic ${topic}: ${warning}`, { topic })
    return resultOf(resource, kafkaErrors.NONE, null)
  }

  private failed(resource: AskedResource, error: unknown, exchange: Exchange): AlteredResource {
    const { code, message } = tellError(error, exchange, this.tools.metrics, () => { this.logger.error('settings could not be changed', { topic: resource.resourceName, error }) })
    return resultOf(resource, code, message)
  }
}

export function resultOf({ resourceType, resourceName }: AskedResource, errorCode: number, errorMessage: string | null): AlteredResource {
  return { errorCode, errorMessage, resourceType, resourceName }
}
