import { z } from 'zod'
import { looksLikeSchedule } from './core/sweep-times.ts'

export const retentionConfig = z.object({
  schedule: z.string().default('')
    .refine(looksLikeSchedule, 'a cron expression has five fields, or six with seconds first, or is one such as @hourly')
    .describe('When to look for what retention gives up: a cron expression in UTC, such as `30 3 * * *`, each day at 03:30; five fields, or six with seconds first, or `@hourly`, `@daily`, `@weekly`, … Empty: each `log.retention.check.interval.ms`.'),
  jitterMs: z.number().int().min(0).max(3_600_000).default(30_000)
    .describe('Each look is late by chance, by up to so many milliseconds, so that brokers do not all work at once. With an interval, at most a tenth of it.'),
})

export type RetentionConfig = z.infer<typeof retentionConfig>
