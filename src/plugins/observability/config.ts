import { z } from 'zod'

export const observabilityConfig = z.object({
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info')
    .describe('Lines below this level are not written.'),
})
