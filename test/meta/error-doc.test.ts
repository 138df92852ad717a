import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { errorTable, type ErrorRow } from '../../src/kernel/errors/error-table.ts'
import { kafkaErrors } from '../../src/wire/kafka-error-codes.ts'
import { errorDoc } from '../../scripts/generate-error-doc.ts'
import { root } from './source-tree.ts'

it('docs/errors.md says what the error table says (npx tsx scripts/generate-error-doc.ts writes it)', () => {
  expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(errorDoc())
})

it('every Kafka code of the table exists', () => {
  const known = new Set(Object.values(kafkaErrors).map((each) => typeof each === 'number' ? each : (each as { code: number }).code))
  for (const [code, row] of Object.entries(errorTable as Record<string, ErrorRow>)) expect(known.has(row.kafka), code).toBe(true)
})
