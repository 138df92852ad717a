import { parseArgs } from 'node:util'

export interface DemoOptions {
  readonly records: number
  readonly json: boolean
}

export const usage = (inFile: number): string => `Usage: npm run demo [-- OPTIONS]

  --records N   so many flights, 1 to ${inFile} (default: all, under two minutes on two cores)
  --json        the figures as one JSON object
  -h, --help    this text`

/** What the words after `npm run demo --` mean: `help`, or, as a sentence, what is wrong with them. */
export function demoOptions(args: readonly string[], inFile: number): DemoOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args], options: { records: { type: 'string' }, json: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) return 'help'
    const records = Number(values.records ?? inFile)
    const isRight = /^\d+$/.test(values.records ?? '1') && records >= 1 && records <= inFile
    return isRight ? { records, json: values.json } : `--records ${values.records}: it takes a whole number from 1 to ${inFile}`
  } catch (error) {
    // In the words of parseArgs, without its advice about how to write positional arguments.
    return (error as Error).message.split(/\. To specify/)[0]!
  }
}
