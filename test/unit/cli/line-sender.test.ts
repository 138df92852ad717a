import { describe, expect, it } from 'vitest'
import { LineSender, type LineSenderOptions } from '../../../src/cli/line-sender.ts'
import { type ProducerRecord, type RecordMetadata } from '../../../src/client/index.ts'
import { MillraceError } from '../../../src/kernel/errors/index.ts'

/** Answers when it is told to. */
class Producer {
  readonly records: ProducerRecord[] = []
  readonly answers: { resolve: (place: RecordMetadata) => void, reject: (error: unknown) => void }[] = []
  send(record: ProducerRecord): Promise<RecordMetadata> {
    this.records.push(record)
    return new Promise((resolve, reject) => { this.answers.push({ resolve, reject }) })
  }
}

const place = (partition: number): RecordMetadata => ({ topic: 't', partition, offset: 0, timestamp: 0 })
const text = (bytes: unknown): string | null => bytes === null ? null : Buffer.from(bytes as Uint8Array).toString()

function make(options: Partial<LineSenderOptions> = {}): { producer: Producer, sender: LineSender } {
  const producer = new Producer()
  return { producer, sender: new LineSender(producer, { topic: 't', source: 'input', ...options }) }
}

const parts = (keySeparator: string | undefined, line: string): unknown[] => {
  const { producer, sender } = make(keySeparator === undefined ? {} : { keySeparator })
  sender.line(Buffer.from(line))
  return [text(producer.records[0]!.key), text(producer.records[0]!.value)]
}

describe('a line', () => {
  it('is a value without a key', () => {
    expect(parts(undefined, 'a:b')).toEqual([null, 'a:b'])
    expect(parts(undefined, '')).toEqual([null, ''])
  })

  it('is cut at the first separator', () => {
    expect(parts(':', 'a:b:c')).toEqual(['a', 'b:c'])
    expect(parts(':', ':b')).toEqual(['', 'b'])
    expect(parts(':', 'a:')).toEqual(['a', ''])
    expect(parts('=>', 'a=b=>c=>d')).toEqual(['a=b', 'c=>d'])
    expect(parts('→', 'ä→ö')).toEqual(['ä', 'ö'])
  })

  it('without the separator is refused with its number', () => {
    const { sender } = make({ keySeparator: '\t' })
    sender.line(Buffer.from('a\tb'))
    expect(() => { sender.line(Buffer.from('ab')) }).toThrow(expect.objectContaining({ code: 'MR_CLI_INPUT', message: expect.stringMatching(/^input, line 2: it has no key separator "\\t"/) }))
  })

  it('is a tombstone where its value, and not its key, is the text that stands for null', () => {
    const { producer, sender } = make({ keySeparator: ':', nullValue: 'NULL' })
    for (const line of ['a:NULL', 'NULL:b', 'a:NULLS', 'a:null', 'a:']) sender.line(Buffer.from(line))
    expect(producer.records.map((record) => [text(record.key), text(record.value)])).toEqual([['a', null], ['NULL', 'b'], ['a', 'NULLS'], ['a', 'null'], ['a', '']])
    const empty = make({ nullValue: '' })
    empty.sender.line(Buffer.from(''))
    expect(empty.producer.records[0]!.value).toBeNull()
  })

  it('goes to the partition and with the headers that were asked for', () => {
    const headers = [{ key: 'h', value: Buffer.from('1') }]
    const { producer, sender } = make({ partition: 3, headers })
    sender.line(Buffer.from('x'))
    expect(producer.records[0]).toMatchObject({ topic: 't', partition: 3, headers })
  })
})

describe('what becomes of lines', () => {
  it('is counted by partition and by error', async () => {
    const { producer, sender } = make()
    for (let line = 0; line < 5; line++) sender.line(Buffer.from('1234'))
    const tooLarge = new MillraceError('MR_CLIENT_RECORD_TOO_LARGE', { topic: 't', size: 4, limit: 3 })
    producer.answers[0]!.resolve(place(1))
    producer.answers[1]!.resolve(place(0))
    producer.answers[2]!.resolve(place(1))
    producer.answers[3]!.reject(tooLarge)
    producer.answers[4]!.reject(tooLarge)
    await new Promise((resolve) => { setImmediate(resolve) })
    expect(sender).toMatchObject({ lines: 5, bytes: 20, sent: 3, failed: 2, hopeless: false })
    expect([...sender.partitions]).toEqual([[1, 2], [0, 1]])
    expect([...sender.failures.values()]).toEqual([{ error: tooLarge, count: 2 }])
  })

  it('stops the rest when an error is not about one record', async () => {
    const { producer, sender } = make()
    sender.line(Buffer.from('x'))
    producer.answers[0]!.reject(new MillraceError('MR_CLIENT_DELIVERY_TIMEOUT'))
    await new Promise((resolve) => { setImmediate(resolve) })
    expect(sender.hopeless).toBe(true)
  })

  it('makes room again when half of a crowd is answered', async () => {
    const { producer, sender } = make()
    while (!sender.crowded) sender.line(Buffer.from('x'))
    let isRoom = false
    const room = sender.room().then(() => { isRoom = true })
    producer.answers.slice(0, producer.answers.length / 2 - 1).forEach((answer) => { answer.resolve(place(0)) })
    await new Promise((resolve) => { setImmediate(resolve) })
    expect(isRoom).toBe(false)
    producer.answers[producer.answers.length - 1]!.resolve(place(0))
    await room
    expect(sender.crowded).toBe(false)
  })
})
