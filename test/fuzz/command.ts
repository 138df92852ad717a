import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { addToCorpus, corpusDirectory, type CorpusEntry, corpusPath, heavyDirectory, readCorpus } from './corpus.ts'
import { type Coverage } from './coverage.ts'
import { type Failure, fuzz, type FuzzReport, replay } from './fuzz-run.ts'
import { type Meters, stallMsMax } from './meters.ts'
import { type TargetName, targetNames } from './target.ts'
import { openTarget } from './targets/open-target.ts'

export interface Command {
  readonly seed: number
  readonly inputs: number
  readonly minutes: number
  readonly target: string
  readonly replay: string | undefined
  readonly keep: number
  readonly coverage: Coverage | undefined
}

/** What each target gets of the inputs when all are run: the fast ones more. */
const shares: Readonly<Record<TargetName, number>> = { codecs: 0.4, batches: 0.25, formats: 0.15, requests: 0.12, frames: 0.03, files: 0.05 }
/** Longest that a guided beginning is. */
const guidedInputsMax = 6000
/** Of fewer turns of the loop, the first of which compile what they run, p99.9 says nothing. */
const turnsMin = 4000
/** Larger inputs make the corpus heavy and are of no more use. */
const corpusBytesMax = 2000
/** Failures above it are not for the repository. */
const keptBytesMax = 65_536

/** The exit code. */
export async function runCommand(command: Command): Promise<number> {
  if (command.replay !== undefined) return replayLine(command.replay)
  const names = targetNames.filter(name => command.target === 'all' || command.target === name)
  if (names.length === 0) throw new Error(`--target ${command.target} is none of all, ${targetNames.join(', ')}`)
  let failed = 0
  for (const name of names) failed += await runTarget(name, command, names.length > 1 ? shares[name] : 1)
  return failed > 0 ? 1 : 0
}

async function runTarget(name: TargetName, { seed, inputs, minutes, keep, coverage }: Command, share: number): Promise<number> {
  const beganMs = performance.now()
  const wanted = Math.round(inputs * share)
  const report = await fuzz(() => openTarget(name, seed), {
    seed, inputs: wanted, untilMs: beganMs + minutes * 60_000 * share, corpus: readCorpus(name), coverage,
    guidedInputs: Math.min(guidedInputsMax, wanted / 10),
    onProgress: (meters, kept) => { if (process.stdout.isTTY) process.stdout.write(`\r${name} ${meters.inputs} inputs, ${kept} kept `) },
  })
  print(name, report, performance.now() - beganMs, coverage)
  for (const failure of report.failures) printFailure(name, seed, failure)
  for (const [{ defect }, { count, input }] of report.known) {
    console.log(`  known, ${count} times: ${defect}`)
    if (input !== undefined && !readCorpus(name).some(({ why }) => why === `known: ${defect}`)) addToCorpus(name, [{ ...input, why: `known: ${defect}` }])
  }
  if (keep > 0) addToCorpus(name, smallest(report, keep))
  return report.failures.length + (name !== 'files' && stalls(report.meters) ? 1 : 0)
}

function print(name: TargetName, { meters, kept, failures }: FuzzReport, tookMs: number, coverage: Coverage | undefined): void {
  const { inputs, inputBytes, inputP999Ms, turnP999Ms, slowInputs, slowestMs, worstExcessBytes, measuredInputs, peakHeldBytes } = meters
  const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  console.log([
    `${name}: ${inputs} inputs (${mib(inputBytes)}) in ${(tookMs / 1000).toFixed(1)} s, ${kept.length} kept, ${failures.length} failures`,
    ...(coverage === undefined ? [] : [`  ${coverage.blocks} blocks of code reached`]),
    `  time of an input: p50 ${(meters.inputTime.percentile(50) / 1e6).toFixed(3)} ms, p99.9 ${inputP999Ms.toFixed(1)} ms; ${slowInputs} took over ${stallMsMax} ms each time, ${Math.round(slowestMs)} ms the slowest ${meters.slowestKind}`,
    `  stalls of the loop: p99.9 ${turnP999Ms.toFixed(1)} ms of ${meters.turns.count} turns, longest ${(meters.turns.max / 1e6).toFixed(0)} ms; as a timer saw it, other programs included: p99 ${(meters.loopDelay.percentile(99) / 1e6).toFixed(1)} ms, p99.9 ${(meters.loopDelay.percentile(99.9) / 1e6).toFixed(1)} ms`,
    `  memory: ${measuredInputs} inputs weighed, the heaviest allocated ${mib(meters.mostAllocatedBytes)}, and none was nearer than ${mib(measuredInputs === 0 ? 0 : -worstExcessBytes)} to twice itself and the limit; the process held ${mib(peakHeldBytes)} at most, ${mib(process.resourceUsage().maxRSS * 1024)} resident`,
  ].join('\n'))
}

/** Whether the loop stood still too often. An input by itself is not enough: that is p99.9. A start on damaged files has no clients to keep waiting. */
function stalls(meters: Meters): boolean {
  const stalled = meters.turns.count >= turnsMin && meters.turnP999Ms > stallMsMax
  if (meters.slowInputs <= meters.inputs / 1000 && !stalled) return false
  console.log(`FAILED: ${meters.slowInputs} of ${meters.inputs} inputs hold the event loop for over ${stallMsMax} ms; stalls are ${meters.turnP999Ms.toFixed(1)} ms at p99.9`)
  return true
}

function printFailure(name: TargetName, seed: number, { message, error, input }: Failure): void {
  console.log(`FAILED (seed ${seed}): ${message}`)
  if (error instanceof Error) console.log(String(error.stack).split('\n').slice(1, 8).join('\n'))
  if (input === undefined) {
    console.log('  no single input does it: run the seed again')
    return
  }
  const directory = input.bytes.length > keptBytesMax ? heavyDirectory : corpusDirectory
  const line = addToCorpus(name, [{ ...input, why: `found: ${message.slice(0, 120)}` }], directory)
  console.log(`  ${input.kind}, ${input.bytes.length} bytes: ${Buffer.from(input.bytes.subarray(0, 200)).toString('hex')}`)
  console.log(`  npm run fuzz -- --replay ${relative(process.cwd(), corpusPath(name, directory))}:${line}`)
}

/** Of what reached something new, the smallest, spread over the kinds. */
function smallest({ kept }: FuzzReport, count: number): CorpusEntry[] {
  const sorted = kept.filter(({ bytes }) => bytes.length <= corpusBytesMax).sort((a, b) => a.bytes.length - b.bytes.length)
  const perKind = new Map<string, number>()
  const most = Math.max(1, Math.ceil(count / new Set(sorted.map(({ kind }) => kind)).size))
  return sorted.filter(({ kind }) => {
    const had = perKind.get(kind) ?? 0
    perKind.set(kind, had + 1)
    return had < most
  }).slice(0, count).map(({ kind, bytes, why }) => ({ kind, bytes, why: why.slice(0, 80) }))
}

/** Why a place is no line of a corpus, as a sentence. */
export function replayProblem(place: string): string | undefined {
  const [, path, name, line] = /^(.*?([a-z]+)\.jsonl):(\d+)$/.exec(place) ?? []
  if (path === undefined) return `--replay ${place}: it takes the file of a corpus and a line of it, such as test/fuzz/corpus/batches.jsonl:3`
  const target = targetNames.find(one => one === name)
  if (target === undefined) return `--replay ${place}: no target is called ${name}; they are ${targetNames.join(', ')}`
  if (!existsSync(path)) return `--replay ${place}: there is no file ${path}`
  const { length } = readCorpus(target, path)
  return Number(line) >= 1 && Number(line) <= length ? undefined : `--replay ${place}: the file has the lines 1 to ${length}`
}

async function replayLine(place: string): Promise<number> {
  const found = /([a-z]+)\.jsonl:(\d+)$/.exec(place)
  const name = targetNames.find(one => one === found?.[1])
  const entry = name === undefined ? undefined : readCorpus(name, place.slice(0, place.lastIndexOf(':')))[Number(found![2]) - 1]
  if (name === undefined || entry === undefined) throw new Error(`--replay ${place} is no line of the corpus`)
  const { failures, known } = await replay(() => openTarget(name, 1), [entry])
  for (const { defect } of known.keys()) console.log(`fails as is known: ${defect}`)
  if (failures.length === 0 && known.size === 0) console.log(`${entry.kind}, ${entry.bytes.length} bytes: passed (${entry.why})`)
  for (const { message, error } of failures) console.log(`FAILED: ${message}\n${error instanceof Error ? error.stack : ''}`)
  return failures.length
}
