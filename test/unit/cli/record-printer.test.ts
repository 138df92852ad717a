import { describe, expect, it } from 'vitest'
import { OutputWriter } from '../../../src/cli/output-writer.ts'
import { RecordPrinter, type PrintableRecord, type RecordPrinterOptions } from '../../../src/cli/record-printer.ts'

async function printed(options: RecordPrinterOptions, ...records: readonly Partial<PrintableRecord>[]): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  const writer = new OutputWriter({ write: (bytes) => pieces.push(bytes) > 0, once: () => undefined })
  const printer = new RecordPrinter(writer, options)
  for (const record of records) printer.print({ topic: 't', partition: 0, offset: 0, timestamp: 0, key: null, value: null, headers: [], ...record })
  await writer.flush()
  return Buffer.concat(pieces)
}

describe('records as text', () => {
  it('are the very bytes of the value, a record a line', async () => {
    expect(await printed({ output: 'text' }, { value: Uint8Array.of(0, 255, 10) }, { value: new Uint8Array(0) })).toEqual(Buffer.of(0, 255, 10, 10, 10))
  })

  it('have the key before the separator where one is asked for, and the word null for null', async () => {
    expect((await printed({ output: 'text', keySeparator: ' => ' }, { key: Buffer.from('k'), value: Buffer.from('v') }, {})).toString()).toBe('k => v\nnull => null\n')
  })
})

describe('records as JSON', () => {
  it('are one object a line with bytes as base64', async () => {
    const text = (await printed({ output: 'json' },
      { topic: 'a"b', partition: 2, offset: 2 ** 53 - 1, timestamp: -1, key: Uint8Array.of(255), value: Buffer.from('ä'), headers: [{ key: 'h"', value: Buffer.from('x') }, { key: 'n', value: null }] },
      { topic: 'c' })).toString()
    expect(text.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown)).toEqual([
      { topic: 'a"b', partition: 2, offset: 2 ** 53 - 1, timestamp: -1, key: '/w==', value: 'w6Q=', headers: [{ key: 'h"', value: 'eA==' }, { key: 'n', value: null }] },
      { topic: 'c', partition: 0, offset: 0, timestamp: 0, key: null, value: null, headers: [] },
    ])
  })
})
