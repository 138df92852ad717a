import { reasonOf } from '../../../kernel/errors/index.ts'
import { unknownName } from '../../arguments.ts'
import { settingError } from '../../client-options.ts'
import { frame, framePrefixBytes, schemaIdOf } from '../confluent-frame.ts'
import { framedWith, RegisteredSchema, registryUseNames, type OwnSchema, type RegistryUse } from '../registry/registered-schema.ts'
import { isPromise, type Serde } from '../serde.ts'
import { jsonBytes, jsonValue } from './json-text.ts'
import { acceptedValue, isStandardSchema, jsonSchemaOf, type InputOf, type OutputOf, type StandardSchema } from './standard-schema.ts'

/** How JSON is read. */
export interface JsonOptions {
  /**
   * What becomes of an integer in JSON that a number cannot hold, such as 9007199254740993: `refuse` (the default) makes the record undecodable, `round`
   * takes the nearest number, as JSON.parse does.
   */
  readonly integers?: 'refuse' | 'round'
}

/** JSON in the Confluent wire format. */
export interface RegisteredJsonOptions extends JsonOptions, RegistryUse {
  /**
   * The JSON Schema to find or register. Default: that of the validator, where it can tell. No value is held against it, nor against that of the registry: the validator alone decides. Its
   * `title` is the name of the record.
   */
  readonly jsonSchema?: object
}

const optionNames: readonly (keyof RegisteredJsonOptions)[] = ['integers', 'jsonSchema', ...registryUseNames]

/** JSON in UTF-8, of any shape. `T` is what you say it is; nothing looks. Throws MR_CLIENT_SETTING for options that there are not. */
export function json<T = unknown>(schema?: undefined, options?: JsonOptions | RegisteredJsonOptions): Serde<T>
/**
 * JSON in UTF-8 that a validator has accepted: zod, valibot, arktype or any other that follows Standard Schema. What is sent has to be an input of the schema
 * and is written as it was given; what is read is the schema's output. Validators may be asynchronous. Throws MR_CLIENT_SETTING for what is none.
 */
export function json<S extends StandardSchema>(schema: S, options?: JsonOptions | RegisteredJsonOptions): Serde<InputOf<S>, OutputOf<S>>
export function json(schema?: StandardSchema, options: JsonOptions & Partial<RegisteredJsonOptions> = {}): Serde<unknown> {
  if (schema !== undefined && !isStandardSchema(schema)) throw settingError('json', 'the schema is no Standard Schema: it has no ~standard.validate; newer releases of zod, valibot and arktype have it')
  const unknown = unknownName(options, optionNames)
  if (unknown !== undefined) throw settingError('json', unknown)
  const { integers = 'refuse' } = options
  if (integers !== 'refuse' && integers !== 'round') throw settingError('json', 'integers is refuse or round')
  const plain = schema === undefined ? plainJson(integers === 'round') : validatedJson(schema, integers === 'round')
  const { registry } = options
  if (registry !== undefined) return registeredJson(plain, { ...options, registry }, schema)
  const alone = (['jsonSchema', ...registryUseNames] as const).find(name => options[name] !== undefined)
  if (alone !== undefined) throw settingError('json', `${alone} says something only together with registry`)
  return plain
}

function registeredJson(plain: Serde<unknown>, options: RegisteredJsonOptions, schema: StandardSchema | undefined): Serde<unknown> {
  const registered = new RegisteredSchema('json', options, ownSchema(options, schema))
  return {
    encode: (value, place) => framedWith(plain.encode(value, place), () => registered.writer(place), ({ id }, json) => frame(id, json)),
    decode(bytes, place) {
      schemaIdOf(bytes)
      return plain.decode(bytes.subarray(framePrefixBytes), place)
    },
  }
}

function ownSchema(options: RegisteredJsonOptions, schema: StandardSchema | undefined): OwnSchema {
  let jsonSchema: object | undefined
  try {
    jsonSchema = options.jsonSchema ?? (schema === undefined || options.useLatest === true ? undefined : jsonSchemaOf(schema))
  } catch (error) {
    throw settingError('json.jsonSchema', `the validator has no JSON Schema for itself (${reasonOf(error)}); give one`)
  }
  if (jsonSchema === undefined && options.useLatest !== true) throw settingError('json.jsonSchema', 'the validator tells no JSON Schema; give one, or say useLatest: true')
  const title = (jsonSchema as { readonly title?: unknown } | undefined)?.title
  return {
    schemaType: 'JSON',
    schema: jsonSchema === undefined ? undefined : { schemaType: 'JSON', schema: JSON.stringify(jsonSchema) },
    recordName: typeof title === 'string' ? title : '',
  }
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
