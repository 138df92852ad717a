import { unknownName } from '../../arguments.ts'
import { settingError } from '../../client-options.ts'
import { isPromise, type Serde } from '../serde.ts'
import { jsonBytes, jsonValue } from './json-text.ts'
import { acceptedValue, isStandardSchema, type InputOf, type OutputOf, type StandardSchema } from './standard-schema.ts'

export interface JsonOptions {
  /**
   * What becomes of an integer in JSON that a number cannot hold, such as 9007199254740993: `refuse` (the default) makes the record undecodable, `round`
   * takes the nearest number, as JSON.parse does.
   */
  readonly integers?: 'refuse' | 'round'
}

const optionNames: readonly (keyof JsonOptions)[] = ['integers']

/** JSON in UTF-8, of any shape. `T` is what you say it is; nothing looks. Throws MR_CLIENT_SETTING for options that there are not. */
export function json<T = unknown>(schema?: undefined, options?: JsonOptions): Serde<T>
/**
 * JSON in UTF-8 that a validator has accepted: zod, valibot, arktype or any other that follows Standard Schema. What is sent has to be an input of the schema
 * and is written as it was given; what is read is the schema's output. Validators may be asynchronous. Throws MR_CLIENT_SETTING for what is none.
 */
export function json<S extends StandardSchema>(schema: S, options?: JsonOptions): Serde<InputOf<S>, OutputOf<S>>
export function json(schema?: StandardSchema, options: JsonOptions = {}): Serde<unknown> {
  if (schema !== undefined && !isStandardSchema(schema)) throw settingError('json', 'the schema is no Standard Schema: it has no ~standard.validate; newer releases of zod, valibot and arktype have it')
  const unknown = unknownName(options, optionNames)
  if (unknown !== undefined) throw settingError('json', unknown)
  const { integers = 'refuse' } = options
  if (integers !== 'refuse' && integers !== 'round') throw settingError('json', 'integers is refuse or round')
  return schema === undefined ? plainJson(integers === 'round') : validatedJson(schema, integers === 'round')
}

function plainJson(rounds: boolean): Serde<unknown> {
  return { encode: value => jsonBytes(value), decode: bytes => jsonValue(bytes, rounds) }
}

function validatedJson({ '~standard': standard }: StandardSchema, rounds: boolean): Serde<unknown> {
  return {
    encode(value) {
      const result = standard.validate(value)
      // Written is what was given: a reader's validator makes the same of it, and would not take what this one has made.
      if (isPromise(result)) return result.then(late => (acceptedValue(late), jsonBytes(value)))
      acceptedValue(result)
      return jsonBytes(value)
    },
    decode(bytes) {
      const result = standard.validate(jsonValue(bytes, rounds))
      return isPromise(result) ? result.then(late => acceptedValue(late)) : acceptedValue(result)
    },
  }
}
