import { createInterface } from 'node:readline/promises'
import pc from 'picocolors'
import { MillraceError } from '../kernel/errors/index.ts'

export interface Confirmation {
  /** What will happen, as a statement: `deleting topic orders destroys its 12 records`. */
  readonly what: string
  readonly yes?: boolean
}

/**
 * Asks before something is destroyed. True: go on. False: the answer was no. Without a terminal, and without --yes, it throws MR_CLI_CONFIRM_NEEDED:
 * a script must say what it means.
 */
export async function confirmed({ what, yes = false }: Confirmation): Promise<boolean> {
  if (yes) return true
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new MillraceError('MR_CLI_CONFIRM_NEEDED', { what })
  const questions = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const interrupted = new Promise<string>((resolve) => { questions.once('SIGINT', () => {
        process.stderr.write('\n')
        resolve('')
      }).once('close', () => { resolve('') }) })
    const asked = questions.question(`${what} for good. Go on? ${pc.dim('[y/N]')} `)
    const answer = await Promise.race([asked, interrupted])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    questions.close()
  }
}
