import { appendClaims } from './log-store-append.ts'
import { compactionClaims } from './log-store-compaction.ts'
import { randomCompaction } from './log-store-compaction-random.ts'
import { durableClaims } from './log-store-durable.ts'
import { layoutClaims } from './log-store-layout.ts'
import { lifecycleClaims } from './log-store-lifecycle.ts'
import { randomOperations } from './log-store-random.ts'
import { readClaims } from './log-store-read.ts'
import { type LogStoreCapabilities, type LogStoreClaim, type LogStoreSubject } from './log-store-subject.ts'
import { trimClaims } from './log-store-trim.ts'
import { check, type DeclareTest } from './kit.ts'

export { type FileChange, type LogStoreCapabilities, type LogStoreSubject } from './log-store-subject.ts'

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface LogStoreConformance {
  readonly test: DeclareTest
  readonly capabilities: LogStoreCapabilities
  /** A started store for each test, in a world of its own. */
  readonly create: () => Promise<LogStoreSubject>
  /** What random claims are drawn from; draw it anew for each run and print it. */
  readonly seed: number
  /** How many runs of random operations are compared with the model. Default 20. */
  readonly randomRuns?: number
}

/**
 * What a log store and its partition logs promise (kernel/ports/log-store, partition-log), as tests. A store passes when all of them do;
 * it skips only what its declared capabilities leave out.
 */
export function logStoreConformance(conformance: LogStoreConformance): void {
  const { test, capabilities, create, seed, randomRuns = 20 } = conformance
  const claims: LogStoreClaim[] = [
    {
      title: 'it is declared whether the store is durable',
      body: async () => { check(typeof capabilities.durable === 'boolean', 'capabilities.durable is true or false: who sets durability is told what it comes to') },
    },
    ...appendClaims, ...readClaims, ...trimClaims, ...lifecycleClaims, ...durableClaims, ...layoutClaims, ...compactionClaims,
    {
      title: `random operations agree with a naive model, ${randomRuns} times`,
      body: async subject => {
        for (let run = 0; run < randomRuns; run++) await randomOperations(subject, capabilities, seed + run)
      },
    },
    {
      title: 'random compactions leave what a reader of everything would know',
      needs: 'compaction',
      body: async subject => {
        for (let run = 0; run < Math.ceil(randomRuns / 10); run++) await randomCompaction(subject, seed + run)
      },
    },
  ]
  for (const { title, needs, body } of claims) {
    if (needs !== undefined && capabilities[needs] !== true) continue
    test(title, async () => {
      const subject = await create()
      try {
        await body(subject, seed)
      } finally {
        await subject.settle(subject.stop()).finally(() => subject.dispose?.())
      }
    })
  }
}
