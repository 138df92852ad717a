/** Writes docs/errors.md from the error table: `npx tsx scripts/generate-error-doc.ts`. test/meta/error-doc.test.ts keeps them equal. */
import { writeFileSync } from 'node:fs'
import { errorTable, type ErrorRow } from '../src/kernel/errors/error-table.ts'
import { kafkaErrorName } from '../src/wire/kafka-error-codes.ts'
import { scriptOptionsOrExit } from './script-options.ts'

export function errorDoc(): string {
  const rows = Object.entries(errorTable as Record<string, ErrorRow>).map(([code, row]) =>
    `| \`${code}\` | ${row.kind} | ${row.retriable ? 'yes' : 'no'} | ${row.kafka} ${kafkaErrorName(row.kafka)} | ${row.http} | ${row.template.replaceAll('|', '\\|')} |`)
  return `# Errors

Every error of millrace. Codes are API: they are never reused and never change their meaning; messages may change. \`kind\` says who
can do something: \`request\` the caller, \`config\` whoever set it up, \`operational\` the operator. The Kafka code is what clients of the
protocol see, the status what the operators' HTTP answers. Braces are filled from the error's details.

This page is generated from \`src/kernel/errors/error-table.ts\`.

| code | kind | retry may help | Kafka code | HTTP | what it says |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

if (process.argv[1] === import.meta.filename) {
  scriptOptionsOrExit('Usage: npx tsx scripts/generate-error-doc.ts\n\nWrites docs/errors.md from the table of errors. It has no options.', { numbers: {} })
  writeFileSync(new URL('../docs/errors.md', import.meta.url), errorDoc())
}
