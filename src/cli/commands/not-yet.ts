import { type Command } from 'commander'
import { UsageError } from '../output.ts'

/** Commands that the design names and this release does not have. They are refused, so that nobody waits for an effect. */
const absent: Readonly<Record<string, string>> = {
  group: 'consumer groups',
  dlq: 'dead letters',
  txn: 'transactions',
  app: 'declarative applications',
  acl: 'access control',
  user: 'users',
  quota: 'quotas',
  audit: 'the audit log',
  certs: 'certificates',
  tier: 'tiered storage',
  bench: 'the built-in load generator',
  sim: 'the simulator as a command',
}

export function notYetCommands(program: Command): void {
  for (const [name, what] of Object.entries(absent)) {
    program.command(name, { hidden: true }).allowUnknownOption().argument('[rest...]').helpOption(false)
      .action(() => { throw notYet(`millrace ${name}`, what) })
  }
}

export const notYet = (command: string, what: string): UsageError =>
  new UsageError(`${command}: this release does not have ${what} yet; see the roadmap in the README for what it has`)
