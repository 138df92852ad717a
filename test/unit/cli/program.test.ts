import { type Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { program } from '../../../src/cli/program.ts'

/** Verbs that do something: commands without commands of their own, but for those that are only there to refuse. */
function verbs(command: Command, path: readonly string[] = []): (readonly [string, Command])[] {
  return command.createHelp().visibleCommands(command).filter((each) => each.name() !== 'help').flatMap((each) => {
    const own = [...path, each.name()]
    return each.commands.length === 0 ? [[own.join(' '), each] as const] : verbs(each, own)
  })
}

const all = verbs(program())

describe('the commands', () => {
  it('are these', () => {
    expect(all.map(([name]) => name)).toEqual([
      'start', 'topic create', 'topic list', 'topic describe', 'topic alter', 'topic delete', 'produce', 'consume', 'group list', 'group describe', 'group reset-offsets', 'group delete', 'cluster status', 'cluster brokers', 'cluster recover', 'config print', 'config lint', 'log inspect',
    ])
  })

  it.each(all)('%s has help with a description, a sentence for each option, and -o json', (name, command) => {
    const help = command.createHelp()
    expect(command.description().length).toBeGreaterThan(20)
    expect(command.options.filter((option) => option.description.length < 5).map((option) => option.flags)).toEqual([])
    expect(help.formatHelp(command, help)).toMatch(new RegExp(`^Usage: millrace ${name} `))
    expect(command.options.some((option) => option.long === '--output')).toBe(true)
  })

  it.each(all.filter(([name]) => !/^(start|config|log|cluster recover)/.test(name)))('%s takes the options of the network', (_name, command) => {
    const flags = command.options.map((option) => option.long)
    expect(flags).toEqual(expect.arrayContaining(['--bootstrap', '--command-config']))
  })

  it('that destroy ask: they take --yes and --dry-run', () => {
    const [, deleting] = all.find(([name]) => name === 'topic delete')!
    expect(deleting.options.map((option) => option.long)).toEqual(expect.arrayContaining(['--yes', '--dry-run']))
  })
})
