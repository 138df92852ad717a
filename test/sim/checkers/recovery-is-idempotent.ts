import { type Checker, type FileImage, type HistoryEvent, Violation } from '../history.ts'

/** S25: recovering what was recovered changes nothing, and recovery keeps every byte that was synced. */
export class RecoveryIsIdempotent implements Checker {
  readonly claim = 'S25 recovery is idempotent'

  see(event: HistoryEvent): void {
    if (event.kind !== 'recovered') return
    for (const path of new Set([...event.first.keys(), ...event.second.keys()])) {
      const difference = differenceOf(event.first.get(path), event.second.get(path))
      if (difference !== undefined) throw new Violation(`a second recovery changes ${path}: ${difference}`)
    }
    for (const [path, synced] of event.synced) if (path.endsWith('.log')) checkKept(path, synced, event.first)
  }
}

function checkKept(path: string, synced: Uint8Array, found: FileImage): void {
  const there = found.get(path)
  if (synced.length === 0) return
  if (there === undefined) throw new Violation(`${path} is gone, and ${synced.length} bytes of it were synced`)
  const at = firstDifference(synced, there)
  if (at < synced.length) throw new Violation(`${path} has ${there.length} bytes, and differs at ${at} from the ${synced.length} that were synced`)
}

function differenceOf(first: Uint8Array | undefined, second: Uint8Array | undefined): string | undefined {
  if (first === undefined) return 'it was not there after the first'
  if (second === undefined) return 'it is gone'
  const at = firstDifference(first, second)
  return at === first.length && at === second.length ? undefined : `${first.length} bytes, then ${second.length}; they differ at ${at}`
}

/** Where two byte strings part; the length of the shorter one if it begins the other. */
function firstDifference(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length)
  for (let at = 0; at < length; at++) if (left[at] !== right[at]) return at
  return length
}
