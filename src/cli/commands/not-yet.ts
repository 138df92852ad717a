import { type Command } from 'commander'
import { MillraceError } from '../../kernel/errors/index.ts'

/** Commands that the design names and this release does not have. They are refused, so that nobody waits for an effect. */
const absent: Readonly<Record<string, string>> = {
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
  for (const [name, what] of Object.entries(absent)) notYetCommand(program, name, what)
}

/** A command that takes anything and refuses. */
export function notYetCommand(parent: Command, name: string, what: string, instead?: string): void {
  const full = `${parent.parent === null ? 'millrace' : `millrace ${parent.name()}`} ${name}`
  parent.command(name, { hidden: true }).allowUnknownOption().argument('[rest...]').helpOption(false)
    .action(() => { throw notYet(full, what, instead) })
}

export function notYet(command: string, what: string, instead = 'the README lists what it has'): MillraceError {
  return new MillraceError('MR_CLI_NOT_AVAILABLE', { command, what, instead })
}
