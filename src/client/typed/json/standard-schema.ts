import { deeper, SerdeFault } from '../serde.ts'

/**
 * A validator of any library that follows the Standard Schema specification, version 1 (standardschema.dev): zod, valibot, arktype and others. Written here
 * by its shape, so that nothing has to be installed for it.
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly types?: { readonly input: In, readonly output: Out } | undefined
  }
}

export type StandardResult<Out> = { readonly value: Out, readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What a validator takes. */
export type InputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']

/** What a validator makes of it. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

export function isStandardSchema(given: unknown): given is StandardSchema {
  // Some libraries make their validators functions.
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) return false
  const standard = (given as Partial<StandardSchema>)['~standard']
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function'
}

/**
 * The JSON Schema of what a validator takes, from validators that can tell (Standard JSON Schema: zod since 4.2 and others); undefined from others. Throws what the
 * validator throws where JSON Schema has no words for it.
 */
export function jsonSchemaOf(schema: StandardSchema): object | undefined {
  const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: { readonly input?: (options: { readonly target: string }) => object } }
  return typeof jsonSchema?.input === 'function' ? jsonSchema.input({ target: 'draft-07' }) : undefined
}

const issuesShownMax = 3

/** The value that a validator gave. Throws a SerdeFault with the path of its first complaint and the words of the first few. */
export function acceptedValue<Out>(result: StandardResult<Out>): Out {
  if (result.issues === undefined) return result.value
  const { issues } = result
  const first = issues[0]
  const path = first === undefined ? '' : issuePath(first)
  const words = issues.slice(0, issuesShownMax).map((issue, index) => {
    const at = issuePath(issue)
    return index === 0 || at === '' ? issue.message : `${at}: ${issue.message}`
  })
  const more = issues.length > issuesShownMax ? ` (and ${issues.length - issuesShownMax} more)` : ''
  throw new SerdeFault(`${words.join('; ')}${more}`, path)
}

function issuePath({ path = [] }: StandardIssue): string {
  return path.reduce<string>((so, step) => deeper(so, typeof step === 'object' ? step.key : step), '')
}
