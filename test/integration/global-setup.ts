import { ensureBuilt } from './built.ts'

/** Once, before the workers start: tests of the command and of packages run the compiled dist/. */
export function setup(): void {
  ensureBuilt()
}
