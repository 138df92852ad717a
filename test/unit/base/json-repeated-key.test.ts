import { expect, it } from 'vitest'
import { repeatedJsonKey } from '../../../src/base/json-repeated-key.ts'

it.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"x":{"num.partitions":1,"y":[1,{"z":0}],"num.partitions":2}}', 'x.num.partitions'],
  ['[0,{"b":[],"c":{},"b":null}]', '1.b'],
  ['[[1,2],[{"k":"{","k":"}"}]]', '1.0.k'],
  ['{"a":{"b":1},"c":{"b":1},"a":{}}', 'a'],
])('in %s the key %s stands twice', (text, path) => {
  expect(repeatedJsonKey(text)).toBe(path)
})

it.each([
  '{}', '[]', '"a"', '1', '{"a":"a","b":"a"}', '{"a":{"a":{"a":[{"a":1},{"a":2}]}}}', '{"a,\\"a\\":":1,"a":"\\",\\"a\\":{"}', '{"__proto__":1,"constructor":2}', '["a","a"]',
])('in %s none does', (text) => {
  expect(repeatedJsonKey(text)).toBeUndefined()
})
