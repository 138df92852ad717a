import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type incrementalAlterConfigsApi, type IncrementalAlterConfigsRequest } from '../../../wire/messages/44-incremental-alter-configs.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { resultOf, type ConfigAlterer } from '../config-alterer.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof incrementalAlterConfigsApi>

/**
 * IncrementalAlterConfigs v0-1: sets, deletes, appends to or subtracts from single settings of topics, all of a topic's or none (quirk 22). When it is
 * answered the change is on the disk and in effect, for every connection.
 */
export class IncrementalAlterConfigsHandler implements ProtocolHandler {
  readonly apiKey = 44
  readonly minVersion = rangeOf(44).min
  readonly maxVersion = rangeOf(44).max
  private readonly alterer: ConfigAlterer

  constructor(alterer: ConfigAlterer) {
    this.alterer = alterer
  }

  handle({ resources, validateOnly }: IncrementalAlterConfigsRequest, exchange: Exchange): void {
    this.alterer.alter({ resources, validateOnly, replaces: false }, exchange)
  }

  failure({ resources }: IncrementalAlterConfigsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, responses: resources.map((resource) => resultOf(resource, errorCode, null)) }
  }
}
