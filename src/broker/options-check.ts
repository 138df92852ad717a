import { z } from 'zod'
import { nearestName } from '../base/suggestion.ts'
import { MillraceError } from '../kernel/errors/millrace-error.ts'
import { type Plugin } from '../kernel/plugin/define-plugin.ts'
import { type BrokerOptions } from './broker-options.ts'

const pluginObject = z.custom<Plugin>((value) => typeof value === 'object' && value !== null && 'register' in value)
const pluginUse = z.union([z.string().min(1), pluginObject])

const shape = z.strictObject({
  preset: z.enum(['single-node', 'memory']).optional(),
  plugins: z.array(z.union([pluginUse, z.strictObject({ use: pluginUse, instead: z.string().min(1) })])).optional(),
  without: z.array(z.string().min(1)).optional(),
  settings: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  broker: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  data: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  listen: z.string().min(1).optional(),
  advertise: z.string().min(1).optional(),
  http: z.string().min(1).optional(),
  nodeId: z.int().min(0).max(2_147_483_647).optional(),
  insecure: z.boolean().optional(),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
})

/** Refuses what a configuration can not mean: MR_CONFIG_UNKNOWN with a suggestion, or MR_CONFIG_INVALID with the reason. */
export function checkOptions(given: unknown): BrokerOptions {
  const parsed = shape.safeParse(given)
  if (parsed.success) return parsed.data as BrokerOptions
  const issue = parsed.error.issues[0]!
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!
    const near = nearestName(key, Object.keys(shape.shape))
    const suggestion = near === undefined ? `; known are ${Object.keys(shape.shape).join(', ')}` : `; did you mean ${near}?`
    throw new MillraceError('MR_CONFIG_UNKNOWN', { key: [...issue.path, key].join('.'), suggestion })
  }
  const key = issue.path.join('.') || 'configuration'
  throw new MillraceError('MR_CONFIG_INVALID', { key, value: shown(valueAt(given, issue.path)), reason: issue.message })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], given)
}

const shown = (value: unknown): string => value === undefined ? '(nothing)' : (JSON.stringify(value) ?? typeof value).slice(0, 100)
