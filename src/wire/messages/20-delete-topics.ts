import { arrayOf, int16, int32, string, struct, uuid } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DeleteTopics: deletes topics.
 *
 * Versions 1 to 6:
 * - v1: the lowest version
 * - v4: flexible
 * - v5: an error message
 * - v6: topics by name or id
 *
 * Up to v5 the names are in topicNames, from v6 on in topics.
 */
export const deleteTopicsApi = defineApi({ key: 20, name: 'DeleteTopics', versions: '1-6', flexible: '4+' }, {
  request: {
    topics: arrayOf('6+', struct('DeleteTopicState', {
      name: string('6+', { nullable: '6+', default: null }),
      topicId: uuid('6+'),
    })),
    topicNames: arrayOf('0-5', 'string', { ignorable: true }),
    timeoutMs: int32('0+'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    responses: arrayOf('0+', struct('DeletableTopicResult', {
      name: string('0+', { nullable: '6+' }),
      topicId: uuid('6+', { ignorable: true }),
      errorCode: int16('0+'),
      errorMessage: string('5+', { nullable: '5+', default: null, ignorable: true }),
    })),
  },
})

export type DeleteTopicsRequest = RequestOf<typeof deleteTopicsApi>
export type DeleteTopicsResponse = ResponseOf<typeof deleteTopicsApi>
