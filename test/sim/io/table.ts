import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { phases, type Phase } from './setting.ts'

/** A row of docs/io-failures.md: one call site in one situation. */
export interface Row {
  /** As `CallSite.name` has it. */
  readonly site: string
  readonly phase: Phase
  /** Another call that fails once before, where the site is only reached then. */
  readonly after: { readonly site: string, readonly error: 'EIO' | 'ENOSPC' } | undefined
  readonly outcomes: readonly { readonly error: 'EIO' | 'ENOSPC', readonly times: number, readonly outcome: string }[]
}

export interface Table {
  readonly rows: readonly Row[]
  /** Sites that no life reaches, with the reason. */
  readonly unreached: ReadonlyMap<string, string>
  /** The words that outcomes are made of. */
  readonly words: ReadonlySet<string>
}

const call = /^`([^`]+)`(?: after `([^`]+)` \((EIO|ENOSPC)\))?$/

/** The page as the tests read it. `### <file>` begins the rows of a file; a row of three cells is of a site that is not reached. */
export function readTable(root: string): Table {
  const rows: Row[] = []
  const unreached = new Map<string, string>()
  const words = new Set<string>()
  let file = ''
  for (const line of readFileSync(resolve(root, 'docs/io-failures.md'), 'utf8').split('\n')) {
    file = /^### (\S+)$/.exec(line)?.[1] ?? (line.startsWith('## ') ? '' : file)
    const cells = line.split('|').slice(1, -1).map(cell => cell.trim())
    const found = call.exec(cells[0] ?? '')
    if (found === null) continue
    if (file === '') {
      words.add(found[1]!)
      continue
    }
    const site = `${file} ${found[1]!}`
    if (cells.length === 3) unreached.set(site, cells[2]!)
    else rows.push(rowOf(site, cells, found))
  }
  return { rows, unreached, words }
}

function rowOf(site: string, cells: readonly string[], [, , after, error]: RegExpExecArray): Row {
  const phase = phases.find(each => each === cells[2])
  if (phase === undefined || cells.length !== 7) throw new Error(`docs/io-failures.md: the row of ${site} has ${cells.length} cells, and "${cells[2]}" for when`)
  const outcomes = [['EIO', 1], ['EIO', Infinity], ['ENOSPC', 1], ['ENOSPC', Infinity]] as const
  return {
    site, phase,
    after: after === undefined ? undefined : { site: after, error: error as 'EIO' | 'ENOSPC' },
    outcomes: outcomes.flatMap(([kind, times], index) => cells[3 + index] === '–' ? [] : [{ error: kind, times, outcome: cells[3 + index]! }]),
  }
}
