import { readdirSync } from 'node:fs'
import { z } from 'zod'
import type { Plugin } from '../src/kernel/plugin/define-plugin.ts'
import { nodePlatform } from '../src/platform/node-platform-plugin.ts'

/** What zod says of a value in JSON Schema, as far as our plugins use it. */
interface Shape {
  readonly type?: string
  readonly description?: string
  readonly default?: string | number | boolean | readonly string[]
  readonly items?: Shape
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
}

/** The platform, which every composition has, and what lies under src/plugins, so that none can be left out. */
export async function ownPlugins(): Promise<readonly Plugin[]> {
  const names = readdirSync(new URL('../src/plugins', import.meta.url)).sort()
  const modules = await Promise.all(names.map((name) => import(`../src/plugins/${name}/index.ts`) as Promise<{ readonly plugin: Plugin }>))
  return [...modules.map(({ plugin }) => plugin), nodePlatform]
}

/** The sections of docs/config.md about the plugins' own settings, made of their schemas. */
export function pluginSections(plugins: readonly Plugin[]): string {
  return plugins.map(({ name, summary, config }) => {
    const { properties = {}, required = [] } = z.toJSONSchema(config, { io: 'input' }) as { readonly properties?: Readonly<Record<string, Shape>>, readonly required?: readonly string[] }
    const rows = Object.entries(properties).map(([key, shape]) => `| \`${key}\` | ${defaultOf(shape, required.includes(key))} | ${allowed(name, key, shape)} | ${cell(shape.description ?? '')} |`)
    const table = rows.length === 0 ? 'No settings of its own.' : `| setting | default | allowed | what it does |\n|---|---|---|---|\n${rows.join('\n')}`
    return `### ${name}\n\n${summary}\n\n${table}\n`
  }).join('\n')
}

function defaultOf(shape: Shape, isRequired: boolean): string {
  if (isRequired) return 'required'
  if (shape.default === undefined) return 'none'
  return shape.default === '' || (Array.isArray(shape.default) && shape.default.length === 0) ? 'empty' : `\`${String(shape.default)}\``
}

function allowed(plugin: string, key: string, shape: Shape): string {
  if (shape.enum !== undefined) return `one of ${shape.enum.join(', ')}`
  if (shape.type === 'boolean') return 'true or false'
  if (shape.type === 'string') return shape.minLength === undefined ? 'a text' : 'a text that is not empty'
  if (shape.type === 'array' && shape.items?.type === 'string') return 'a list of texts'
  if (shape.type === 'integer') return `a whole number${range(shape)}`
  throw new Error(`${plugin}, setting ${key}: there are no words here for a value of type ${String(shape.type)}; add them to scripts/plugin-settings-doc.ts`)
}

function range({ minimum, maximum = Infinity }: Shape): string {
  if (minimum === undefined || minimum === Number.MIN_SAFE_INTEGER) return maximum < Number.MAX_SAFE_INTEGER ? ` of ${maximum} or less` : ''
  return maximum < Number.MAX_SAFE_INTEGER ? ` from ${minimum} to ${maximum}` : ` of ${minimum} or more`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')
