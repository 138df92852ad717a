import { MillraceError } from '../kernel/errors/millrace-error.ts'

/**
 * Refuses a data directory that is given twice under two names (MR_CONFIG_INVALID): its lock would be found taken, by this very broker; and one
 * that lies in another, which would take it for a partition, or for something that is not its own; and the root of the file system, where what a broker
 * makes would lie among everything else. `real` is the one name of a directory.
 */
export function checkDirectoriesDiffer(directories: readonly string[], real: (path: string) => string): void {
  const given = new Map<string, string>()
  for (const path of directories) {
    const place = real(path)
    if (/^([A-Za-z]:)?[\\/]*$/.test(place)) {
      throw new MillraceError('MR_CONFIG_INVALID', { key: 'log.dirs', value: directories.join(','), reason: `${path} is the root of the file system; name a directory that is the broker's alone` })
    }
    const first = given.get(place)
    if (first !== undefined) {
      throw new MillraceError('MR_CONFIG_INVALID', { key: 'log.dirs', value: directories.join(','), reason: `${first} and ${path} are one directory, given twice; keep one of them` })
    }
    given.set(place, path)
  }
  for (const [inner, path] of given) {
    const outer = [...given.keys()].find((place) => place !== inner && inner.startsWith(place.endsWith('/') ? place : `${place}/`))
    if (outer === undefined) continue
    throw new MillraceError('MR_CONFIG_INVALID', { key: 'log.dirs', value: directories.join(','), reason: `${path} lies in ${given.get(outer)!}; keep them beside one another` })
  }
}
