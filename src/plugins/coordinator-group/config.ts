import { z } from 'zod'

/** All that can be set about groups are settings of the broker, under Kafka's names. */
export const coordinatorGroupConfig = z.object({})
