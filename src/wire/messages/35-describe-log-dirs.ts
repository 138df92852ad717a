import { arrayOf, bool, int16, int32, int64, string, struct } from '../schema/definition.ts'
import { defineApi, type RequestOf, type ResponseOf } from '../schema/message.ts'

/**
 * DescribeLogDirs: sizes of partitions by log directory.
 *
 * Versions 1 to 5:
 * - v1: the lowest version
 * - v2: flexible
 * - v3: an error code for the whole response
 * - v4: total and usable bytes
 * - v5: cordoned directories
 *
 * Null topics mean all.
 */
export const describeLogDirsApi = defineApi({ key: 35, name: 'DescribeLogDirs', versions: '1-5', flexible: '2+' }, {
  request: {
    topics: arrayOf('0+', struct('DescribableLogDirTopic', {
      topic: string('0+'),
      partitions: arrayOf('0+', 'int32'),
    }), { nullable: '0+' }),
  },
  response: {
    throttleTimeMs: int32('0+'),
    errorCode: int16('3+', { ignorable: true }),
    results: arrayOf('0+', struct('DescribeLogDirsResult', {
      errorCode: int16('0+'),
      logDir: string('0+'),
      topics: arrayOf('0+', struct('DescribeLogDirsTopic', {
        name: string('0+'),
        partitions: arrayOf('0+', struct('DescribeLogDirsPartition', {
          partitionIndex: int32('0+'),
          partitionSize: int64('0+'),
          offsetLag: int64('0+'),
          isFutureKey: bool('0+'),
        })),
      })),
      totalBytes: int64('4+', { default: -1, ignorable: true }),
      usableBytes: int64('4+', { default: -1, ignorable: true }),
      isCordoned: bool('5+', { default: false, ignorable: true }),
    })),
  },
})

export type DescribeLogDirsRequest = RequestOf<typeof describeLogDirsApi>
export type DescribeLogDirsResponse = ResponseOf<typeof describeLogDirsApi>
