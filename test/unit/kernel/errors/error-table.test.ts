import { describe, expect, it } from 'vitest'
import { errorTable, type ErrorCode } from '../../../../src/kernel/errors/error-table.ts'

/** Their reason, or what is added to it, says what to do: it differs from case to case. */
const saidInTheReason = new Set<ErrorCode>([
  'MR_BROKER_NOT_SERVING', 'MR_CLI_INPUT', 'MR_CLI_USAGE', 'MR_CLIENT_NO_BROKERS', 'MR_CLIENT_RECORD_INVALID', 'MR_CLIENT_SETTING', 'MR_CLIENT_UNSUPPORTED',
  'MR_CLUSTER_RECOVERY_REFUSED', 'MR_CONFIG_CHANGE_INVALID', 'MR_CONFIG_FILE', 'MR_CONFIG_INVALID', 'MR_CONFIG_RESOURCE', 'MR_CONFIG_UNKNOWN', 'MR_CONFIG_UNSUPPORTED', 'MR_FILE_FAILED', 'MR_HOST_PLUGIN_INVALID',
  'MR_HOST_PLUGIN_NOT_FOUND', 'MR_HOST_SETTING', 'MR_HOST_START_FAILED', 'MR_PROTOCOL_MALFORMED', 'MR_TOPIC_ASSIGNMENT_INVALID', 'MR_TOPIC_NAME_INVALID', 'MR_TOPIC_PARTITIONS_INVALID',
  'MR_TOPIC_REPLICATION_INVALID', 'MR_TOPIC_REQUEST_INVALID', 'MR_TOPIC_UNKNOWN',
])

describe('an error of the table', () => {
  const codes = Object.keys(errorTable) as ErrorCode[]

  it.each(codes)('%s says what to do, in a half sentence of its own or in its reason', (code) => {
    const { template } = errorTable[code]
    if (saidInTheReason.has(code)) expect(template).toMatch(/\{(reason|suggestion)\}$/)
    else expect(template).toMatch(/; (?!\{reason\})\S+.{6,}$|\{remedy\}$/)
  })
})
