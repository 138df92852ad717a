import { expect, test } from 'vitest'
import { errorTable } from '../../../src/kernel/errors/index.ts'
import { apiKeys, apiName, isFlexibleVersion, isKnownApiKey, kafkaError, kafkaErrorName, kafkaErrors, kafkaErrorTable } from '../../../src/wire/index.ts'
import { readApis, readErrors } from './reference/kafka-grammar.ts'

test('the error codes are those of Kafka 4.4', () => {
  expect(kafkaErrorTable).toEqual(readErrors())
  for (const { code, name } of readErrors()) {
    expect(kafkaErrors[name as keyof typeof kafkaErrors]).toBe(code)
    expect(kafkaErrorName(code)).toBe(name)
  }
})

test('a code that Kafka 4.4 does not have is UNKNOWN_SERVER_ERROR, as it is for its clients', () => {
  for (const code of [-2, 137, 32_767]) {
    expect(kafkaError(code).name).toBe('UNKNOWN_SERVER_ERROR')
    expect(kafkaErrorName(code)).toBe(`UNKNOWN_ERROR_CODE(${code})`)
  }
})

test('every error of the table answers with a code that Kafka has', () => {
  for (const [name, row] of Object.entries(errorTable)) {
    expect(kafkaErrorTable.some(({ code }) => code === row.kafka), name).toBe(true)
  }
})

test('the API keys, names and flexible versions are those of Kafka 4.4', () => {
  for (const { key, name, flexible } of readApis()) {
    expect(apiName(key)).toBe(name)
    expect(apiKeys[name as keyof typeof apiKeys]).toBe(key)
    expect(isKnownApiKey(key)).toBe(true)
    // The facts do not say it of the four keys that Kafka 4 has removed.
    if (key >= 4 && key <= 7) continue
    for (let version = 0; version < 20; version++) expect(isFlexibleVersion(key, version)).toBe(flexible !== undefined && version >= flexible.min)
  }
  expect(apiName(500)).toBe('UnknownApi(500)')
  expect(isKnownApiKey(500)).toBe(false)
  expect(isFlexibleVersion(500, 9)).toBe(false)
})
