import { z } from 'zod'

export const adminHttpConfig = z.object({
  listen: z.string().default('127.0.0.1:9080')
    .describe('HOST:PORT of the operators\' HTTP, port 0 for a free one, or `off`.'),
  insecure: z.boolean().default(false)
    .describe('Allows to listen beyond this machine although nobody has to say who they are.'),
})
