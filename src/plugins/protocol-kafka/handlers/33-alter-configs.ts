import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { type alterConfigsApi, type AlterConfigsRequest } from '../../../wire/messages/33-alter-configs.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { resultOf, type ConfigAlterer } from '../config-alterer.ts'
import { rangeOf } from '../core/version-ranges.ts'

type Response = ResponseDraftOf<typeof alterConfigsApi>

/** AlterConfigs v0-2: the settings that are named become all that is set for a topic; the others go back to their defaults (quirk 22). */
export class AlterConfigsHandler implements ProtocolHandler {
  readonly apiKey = 33
  readonly minVersion = rangeOf(33).min
  readonly maxVersion = rangeOf(33).max
  private readonly alterer: ConfigAlterer

  constructor(alterer: ConfigAlterer) {
    this.alterer = alterer
  }

  handle({ resources, validateOnly }: AlterConfigsRequest, exchange: Exchange): void {
    this.alterer.alter({ resources, validateOnly, replaces: true }, exchange)
  }

  failure({ resources }: AlterConfigsRequest, errorCode: number): Response {
    return { throttleTimeMs: 0, responses: resources.map((resource) => resultOf(resource, errorCode, null)) }
  }
}
