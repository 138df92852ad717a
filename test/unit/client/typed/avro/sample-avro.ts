import fc from 'fast-check'

export interface AvroSample {
  readonly schema: unknown
  readonly value: unknown
}

const leaf = (schema: unknown, values: fc.Arbitrary<unknown>): fc.Arbitrary<{ schema: unknown, values: fc.Arbitrary<unknown> }> => fc.constant({ schema, values })
const finite = { noNaN: true, noDefaultInfinity: true }

/** A schema without names, and values of it. */
const anyType = fc.letrec<{ type: { schema: unknown, values: fc.Arbitrary<unknown> } }>(tie => ({
  type: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    // The first is what stands at the greatest depth, and may stand in a union with null.
    leaf('int', fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), leaf('null', fc.constant(null)), leaf('boolean', fc.boolean()), leaf('long', fc.maxSafeInteger()),
    leaf('double', fc.double(finite)), leaf('float', fc.float(finite)), leaf('string', fc.string({ unit: 'grapheme' })), leaf('bytes', fc.uint8Array().map(bytes => Buffer.from(bytes))),
    tie('type').map(({ schema, values }) => ({ schema: { type: 'array', items: schema }, values: fc.array(values, { maxLength: 4 }) })),
    tie('type').map(({ schema, values }) => ({ schema: { type: 'map', values: schema }, values: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), values, { maxKeys: 4, noNullPrototype: true }) })),
    tie('type').filter(({ schema }) => schema !== 'null' && !Array.isArray(schema)).map(({ schema, values }) => ({ schema: ['null', schema], values: fc.option(values) })),
    fc.array(tie('type'), { minLength: 1, maxLength: 3 }).map(types => ({
      schema: { type: 'record', fields: types.map(({ schema }, index) => ({ name: `f${index}`, type: schema })) },
      values: fc.tuple(...types.map(({ values }) => values)).map(values => Object.fromEntries(values.map((value, index) => [`f${index}`, value]))),
    })),
  ),
})).type

/** Any schema with a value of it. Records get names of their own. */
export const anyAvro: fc.Arbitrary<AvroSample> = anyType.chain(({ schema, values }) => values.map(value => {
  let count = 0
  const named = JSON.parse(JSON.stringify(schema), (_name, each: unknown) => typeof each === 'object' && each !== null && (each as { type?: unknown }).type === 'record' ? { ...each, name: `R${count++}` } : each) as unknown
  // Avro's unions know null from a value by their branches; a union of avsc gives the branch's value itself.
  return { schema: named, value }
}))
