import { AssertionError } from '../../base/assert.ts'
import { isMillraceError, MillraceError, reasonOf } from '../errors/millrace-error.ts'
import { type Plugin } from './define-plugin.ts'

/** Runs what a plugin does while a composition is made. What it throws that is no error of the table would not say whose it is. */
export function blaming<T>(plugin: Plugin, what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (isMillraceError(error) || error instanceof AssertionError) throw error
    throw new MillraceError('MR_HOST_PLUGIN_INVALID', { plugin: plugin.name, reason: `${what} failed: ${reasonOf(error)}; correct that plugin, or take it out` }, error)
  }
}
