import { type Exchange, type ProtocolHandler } from '../../../kernel/ports/protocol-handler.ts'
import { kafkaErrors } from '../../../wire/kafka-error-codes.ts'
import { type ApiVersionsRequest, type apiVersionsApi } from '../../../wire/messages/18-api-versions.ts'
import { type ResponseDraftOf } from '../../../wire/schema/message.ts'
import { rangeOf } from '../core/version-ranges.ts'
import { type ServedApi } from '../request-router.ts'

type Response = ResponseDraftOf<typeof apiVersionsApi>

const groupFeature = 'group.version'
const consumerGroupHeartbeat = 68

/** What a client may call its software (KIP-511). */
const softwarePattern = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/

/**
 * ApiVersions v0-4: what is served, in which versions. Clients read from the features which transaction and group protocols there are (quirk 31):
 * `group.version` is 1 where the consumer protocol is served (quirk 55), and there are no others.
 *
 * Quirk 1, a version too new, is answered by the connection through `unsupportedApiVersions`; quirk 2, the header, by the codec.
 * Quirk 4: from v3 on a client names its software, and a name that could not be one is refused.
 */
export class ApiVersionsHandler implements ProtocolHandler {
  readonly apiKey = 18
  readonly minVersion = rangeOf(18).min
  readonly maxVersion = rangeOf(18).max
  private readonly apis: () => readonly ServedApi[]
  private answer: Response | undefined

  constructor(apis: () => readonly ServedApi[]) {
    this.apis = apis
  }

  handle(request: ApiVersionsRequest, exchange: Exchange): void {
    const { clientSoftwareName, clientSoftwareVersion } = request
    if (exchange.apiVersion >= 3 && !(softwarePattern.test(clientSoftwareName) && softwarePattern.test(clientSoftwareVersion))) {
      exchange.reply(this.failure(request, kafkaErrors.INVALID_REQUEST))
      return
    }
    this.answer ??= this.answerFor(this.apis())
    // A version below 4 can not name a feature that may be at 0.
    exchange.reply(exchange.apiVersion >= 4 ? this.answer : { ...this.answer, supportedFeatures: [] })
  }

  private answerFor(apis: readonly ServedApi[]): Response {
    const hasConsumerProtocol = apis.some(({ key }) => key === consumerGroupHeartbeat)
    return {
      errorCode: kafkaErrors.NONE,
      apiKeys: apis.map(({ key, advertisedMin, max }) => ({ apiKey: key, minVersion: advertisedMin, maxVersion: max })),
      supportedFeatures: hasConsumerProtocol ? [{ name: groupFeature, minVersion: 0, maxVersion: 1 }] : [],
      finalizedFeaturesEpoch: hasConsumerProtocol ? 0 : -1,
      finalizedFeatures: hasConsumerProtocol ? [{ name: groupFeature, maxVersionLevel: 1, minVersionLevel: 1 }] : [],
    }
  }

  failure(_request: unknown, errorCode: number): Response {
    return { errorCode, apiKeys: [] }
  }
}

/** Quirk 1: the answer, in v0, to a version that is not served. It holds the one range that the client needs to ask again. */
export function unsupportedApiVersions(min: number, max: number): Response {
  return { errorCode: kafkaErrors.UNSUPPORTED_VERSION, apiKeys: [{ apiKey: 18, minVersion: min, maxVersion: max }] }
}
