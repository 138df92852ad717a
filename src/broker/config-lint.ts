import { z } from 'zod'
import { isMillraceError, type MillraceError } from '../kernel/errors/millrace-error.ts'
import { contractVersion, definePlugin } from '../kernel/plugin/define-plugin.ts'
import { type FileSystem } from '../kernel/ports/file-system.ts'
import { LogSink } from '../kernel/ports/telemetry.ts'
import { folderOf, resolvePath } from '../platform/module-loader.ts'
import { readConfigFile } from './config-file.ts'
import { type ConfigFault } from './config-fault.ts'
import { examineComposition, type ComposedBroker, type Composition } from './create-broker.ts'
import { examineOptions } from './options-check.ts'

export interface ConfigReport {
  readonly path: string
  /** Every mistake: none, and a broker can be made of it. */
  readonly faults: readonly ConfigFault[]
  /** What is set and has no effect, or one that nobody wants. */
  readonly warnings: readonly string[]
  readonly pluginCount: number
}

/** Everything that is wrong with a configuration file by itself: options, settings, plugins, and that they fit together.
 * Modules of plugins are loaded, `register` is called and every object is made; none is started. */
export async function lintConfigFile(files: FileSystem, name: string, directory: string, defaults: Composition['defaults']): Promise<ConfigReport> {
  const path = resolvePath(directory, name)
  const faults: ConfigFault[] = []
  const onFault = (error: MillraceError, key: string | null): void => { faults.push({ key, error }) }
  let given: unknown
  try {
    given = await readConfigFile(files, path, directory)
  } catch (error) {
    if (!isMillraceError(error)) throw error
    return { path, faults: [{ key: null, error }], warnings: [], pluginCount: 0 }
  }
  const composed = await examineComposition({ file: examineOptions(given, onFault), directory: folderOf(path), defaults }, onFault)
  // Where a plugin is missing, others miss what it provides.
  if (!faults.some(({ error }) => /^MR_HOST_PLUGIN_/.test(error.code))) tryToMake(composed, faults)
  return { path, faults, warnings: composed.warnings, pluginCount: composed.plugins.length }
}

/** The objects are made to be looked at: what they log of themselves is nothing that was found. */
const silence = definePlugin({
  name: 'config-lint', contract: contractVersion, summary: 'Writes no line of the log.',
  decorates: [{ port: LogSink, order: Number.MAX_SAFE_INTEGER }],
  config: z.object({}),
  register({ decorate }) {
    decorate(LogSink, [], () => ({ write: () => undefined }))
  },
})

/** What plugins refuse when they are made: the first of it. A setting that is wrong stands at its default, so consequences of that are passed over. */
function tryToMake(composed: ComposedBroker, faults: ConfigFault[]): void {
  try {
    composed.create([silence])
  } catch (error) {
    if (!isMillraceError(error)) throw error
    if (error.code === 'MR_NET_INSECURE' && faults.some(({ key }) => key === 'insecure')) return
    faults.push({ key: keyOf(error), error })
  }
}

function keyOf({ code, details: { plugin, key } }: MillraceError): string | null {
  if (code === 'MR_HOST_SETTING') return `settings.${String(plugin)}.${String(key)}`
  return code.startsWith('MR_CONFIG_') && key !== undefined ? `broker.${String(key)}` : null
}
