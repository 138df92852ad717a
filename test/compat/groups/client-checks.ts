import { type CheckResult } from '../report.ts'
import { type Subject } from '../subject.ts'
import { timed } from '../timed.ts'
import { type ClientKind, clientKinds, mixedKinds } from './client-kinds.ts'
import { runClientScenario } from './client-scenario.ts'

interface ClientRun {
  readonly name: string
  readonly kinds: readonly ClientKind[]
  readonly isMixed: boolean
  /** Part of what runs unless all is asked for. */
  readonly isQuick: boolean
}

const runs: readonly ClientRun[] = [
  ...clientKinds.map(kind => ({ name: kind.name, kinds: [kind, kind, kind], isMixed: false, isQuick: kind.quick === true })),
  ...mixedKinds.map((kinds, index) => ({ name: kinds.map(kind => kind.name).join('+'), kinds, isMixed: true, isQuick: index === 0 })),
]

const prefix = 'group:'

/** What `--only` may name besides `clients-groups`, which is all of them. */
export const clientGroupNames: readonly string[] = runs.map(({ name }) => prefix + name)

export interface ClientGroupChecks {
  /** A broker for one scenario, which kills it. */
  readonly start: () => Promise<Subject>
  readonly only: readonly string[] | undefined
  readonly all: boolean
  /** All scenarios have one broker, which is not killed. */
  readonly isShared: boolean
}

/** At a time: what two cores take. */
const lanes = 2

/** The scenario of groups for each client, two at a time, each with a broker of its own. */
export async function checkClientGroups ({ start, only, all, isShared }: ClientGroupChecks): Promise<CheckResult[]> {
  const isWanted = ({ name, isQuick }: ClientRun): boolean => only === undefined ? all || isQuick : only.includes('clients-groups') || only.includes(prefix + name)
  const wanted = runs.filter(isWanted)
  const results = new Map<ClientRun, CheckResult>()
  const left = [...wanted]
  const lane = async (): Promise<void> => {
    for (let run = left.shift(); run !== undefined; run = left.shift()) {
      const result = await checkOne(run, start, isShared)
      results.set(run, result)
      console.error(`${result.status}  client-group ${result.client} ${(result.ms / 1000).toFixed(1)} s${result.status === 'passed' ? '' : ` ${result.reason}`}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return wanted.map(run => results.get(run)!)
}

async function checkOne (run: ClientRun, start: () => Promise<Subject>, isShared: boolean): Promise<CheckResult> {
  const check = { check: 'client-group', client: run.name } as const
  const missing = run.kinds.map(kind => kind.missing()).find(text => text !== undefined)
  if (missing) return { ...check, status: 'skipped', ms: 0, reason: missing }
  return timed(check, async () => {
    const subject = await start()
    try {
      const name = `${run.name.replaceAll('+', '-')}-${Date.now().toString(36)}`
      const wishes = run.isMixed ? { assignor: 'range' } as const : {}
      return { reason: await runClientScenario({ bootstrap: subject.bootstrap, name, kinds: run.kinds, wishes, restart: isShared ? undefined : subject.restart }) }
    } finally {
      await subject.remove()
    }
  })
}
