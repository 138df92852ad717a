import { repeatedJsonKey } from '../base/json-repeated-key.ts'
import { MillraceError, isMillraceError } from '../kernel/errors/millrace-error.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { importModule, resolvePath } from '../platform/module-loader.ts'
import { type BrokerOptions } from './broker-options.ts'
import { type FaultSink } from './config-fault.ts'
import { examineOptions } from './options-check.ts'

/** Names that are looked for, in this order, where none is given. */
export const configFileNames = ['ts', 'mjs', 'js', 'json', 'yaml', 'yml'].map((ending) => `millrace.config.${ending}`)

export interface LoadedConfig {
  readonly path: string
  readonly options: BrokerOptions
}

/** The configuration in `directory`, or undefined when there is none. */
export async function findConfigFile(files: FileSystem, directory: string, onFault: FaultSink): Promise<LoadedConfig | undefined> {
  const name = configFileIn(files, directory)
  return name === undefined ? undefined : await loadConfigFile(files, name, directory, onFault)
}

/** The name of the configuration in `directory`; undefined when there is none. Several are refused with MR_CONFIG_FILE. */
export function configFileIn(files: FileSystem, directory: string): string | undefined {
  // Also what is no file: whoever made it meant it to be read.
  const listed = namesIn(files, directory)
  const found = configFileNames.filter((name) => listed.includes(name) || files.stat(`${directory}/${name}`) !== undefined)
  if (found.length > 1) {
    throw new MillraceError('MR_CONFIG_FILE', { path: directory, reason: `there are several (${found.join(', ')}); keep one, or name it with --config` })
  }
  return found[0]
}

/** A link that leads nowhere is among them, and is no file. */
function namesIn(files: FileSystem, directory: string): readonly string[] {
  try {
    return files.list(directory)
  } catch (error) {
    // A folder that may be entered and not be listed.
    if (isMillraceError(error, 'MR_FILE_DENIED')) return []
    throw error
  }
}

/**
 * Reads and checks a configuration; a module gives it as its default export or as the export `config`. Rejects with MR_CONFIG_FILE, which names the
 * path, when it cannot be read; of each option that is wrong, and left out, `onFault` is told: the code is that of the mistake, the message names the path.
 */
export async function loadConfigFile(files: FileSystem, name: string, directory: string, onFault: FaultSink): Promise<LoadedConfig> {
  const path = resolvePath(directory, name)
  const given = await readConfigFile(files, path, directory)
  const options = examineOptions(given, (error, key) => { onFault(inFile(path, error), key) })
  return { path, options }
}

/** A mistake, said with the file that it is in; the code stays. */
export const inFile = (path: string, error: MillraceError): MillraceError =>
  error.code === 'MR_CONFIG_FILE' ? error : new MillraceError(error.code, error.details, error, `${path}: ${error.message}`)

/** What a configuration says, unchecked. MR_CONFIG_FILE names the path. */
export async function readConfigFile(files: FileSystem, path: string, directory: string): Promise<unknown> {
  refuseNoFile(files, path)
  if (!readable.test(path)) throw new MillraceError('MR_CONFIG_FILE', { path, reason: 'the end of its name does not say what it is written in; give it one of .ts, .mjs, .js, .json, .yaml' })
  try {
    if (path.endsWith('.json')) return parseJson(readText(files, path))
    if (/\.ya?ml$/.test(path)) {
      // Loaded when it is needed: a start without such a file is quicker.
      const { parse } = await import('yaml')
      return parse(readText(files, path)) ?? {}
    }
    const module = await importModule(path, directory)
    const given = module['default'] ?? module['config']
    if (given === undefined) throw new Error('it has no default export; write `export default defineConfig({ … })`')
    return given
  } catch (error) {
    if (isMillraceError(error)) throw error
    throw new MillraceError('MR_CONFIG_FILE', { path, reason: `it cannot be read: ${readFault(error)}` }, error)
  }
}

const readable = /\.(?:[cm]?[jt]s|json|ya?ml)$/

function refuseNoFile(files: FileSystem, path: string): void {
  const stat = files.stat(path)
  const reason = stat === undefined ? 'there is no such file; correct its path' : stat.kind === 'directory' ? 'it is a directory; name the file in it' : stat.kind === 'other' ? 'it is no regular file; name one that is'
    : stat.bytes > fileBytesMax ? `it has ${stat.bytes} bytes, and no configuration has more than ${fileBytesMax}; name another file` : undefined
  if (reason !== undefined) throw new MillraceError('MR_CONFIG_FILE', { path, reason })
}

/** Many times what a configuration of thousands of settings takes. */
const fileBytesMax = 16 * 1024 * 1024

function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const repeated = repeatedJsonKey(text)
  if (repeated !== undefined) throw new Error(`${repeated} is there twice; keep one of them`)
  return value
}

/** Who starts a broker that is installed elsewhere has no millrace beside the file. */
function readFault(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (!/Cannot find (?:package|module) '?millrace\b/.test(text)) return text.includes('; ') ? text : `${text.trimEnd()}; correct it, and check it with millrace config lint`
  return `${text.split('\n')[0]}; install millrace in the folder of the file or in one above it, or use a file that needs no import: millrace.config.json or .yaml`
}

export function readText(files: FileSystem, path: string): string {
  const file = files.open(path, 'read')
  try {
    const bytes = new Uint8Array(file.size())
    const length = file.read(bytes, 0, bytes.length, 0)
    return new TextDecoder().decode(bytes.subarray(0, length))
  } finally {
    file.close()
  }
}
