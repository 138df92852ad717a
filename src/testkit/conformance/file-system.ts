import { fileContentClaims, laterClaims } from './file-system-contents.ts'
import { durabilityClaims } from './file-system-durability.ts'
import { fileEdgeClaims } from './file-system-edges.ts'
import { fileNameClaims } from './file-system-names.ts'
import { randomFileClaim } from './file-system-random.ts'
import { type FileSystemSubject } from './file-system-subject.ts'
import { type DeclareTest } from './kit.ts'

export { type FileSystemSubject } from './file-system-subject.ts'

/** What is examined, and with whose `test`. `create` is called for each test. */
export interface FileSystemConformance {
  readonly test: DeclareTest
  readonly create: () => FileSystemSubject
  /** Of the random sequences of calls, one test each. Default 1 to 5. */
  readonly seeds?: readonly number[]
}

/**
 * What every FileSystem must do, and that random sequences of calls have the outcomes that the simulated disk gives. The power-cut tests are
 * declared only for a subject that offers one.
 */
export function fileSystemConformance({ test, create, seeds = [1, 2, 3, 4, 5] }: FileSystemConformance): void {
  const probe = create()
  probe.dispose?.()
  const claims = [
    ...fileNameClaims, ...fileContentClaims, ...laterClaims, ...fileEdgeClaims, ...(probe.powerCut === undefined ? [] : durabilityClaims),
    ...seeds.map(randomFileClaim),
  ]
  for (const { title, body } of claims) {
    test(title, async () => {
      const subject = create()
      try {
        await body(subject, name => `${subject.directory}/${name}`)
      } finally {
        subject.dispose?.()
      }
    })
  }
}
