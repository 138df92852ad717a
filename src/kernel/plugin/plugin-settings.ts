import { type z } from 'zod'
import { nearestName } from '../../base/suggestion.ts'
import { MillraceError } from '../errors/millrace-error.ts'
import { type Plugin } from './define-plugin.ts'

/** Checks what was configured for a plugin; throws MR_HOST_SETTING naming plugin, key and remedy. */
export function parsePluginSettings(plugin: Plugin, given: unknown): Record<string, unknown> {
  const parsed = plugin.config.strict().safeParse(given ?? {})
  if (parsed.success) return parsed.data
  throw describeIssue(plugin, parsed.error.issues[0]!)
}

function describeIssue(plugin: Plugin, issue: z.core.$ZodIssue): MillraceError {
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!
    const near = nearestName(key, Object.keys(plugin.config.shape))
    const reason = near === undefined
      ? `unknown; known are ${Object.keys(plugin.config.shape).sort().join(', ') || 'none'}`
      : `unknown; did you mean ${near}?`
    return new MillraceError('MR_HOST_SETTING', { plugin: plugin.name, key, reason })
  }
  return new MillraceError('MR_HOST_SETTING', {
    plugin: plugin.name, key: issue.path.join('.') || '(all)', reason: issue.message,
  })
}

export interface PluginSettingDescription {
  readonly plugin: string
  readonly key: string
  readonly doc: string
  readonly value: unknown
  readonly source: 'configured' | 'default'
}

/** Every key of a plugin with its value and where it came from, for `config print`. */
export function describePluginSettings(plugin: Plugin, given: unknown): PluginSettingDescription[] {
  const values = parsePluginSettings(plugin, given)
  const configured = (given ?? {}) as Record<string, unknown>
  return Object.entries(plugin.config.shape).map(([key, schema]) => ({
    plugin: plugin.name,
    key,
    doc: (schema as { description?: string }).description ?? '',
    value: values[key],
    source: key in configured ? 'configured' : 'default',
  }))
}
