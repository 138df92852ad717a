import { scriptOptionsOrExit } from '../../../scripts/script-options.ts'
import { kafkaAvailable, startKafka } from '../kafka-broker.ts'
import { startMillrace } from '../millrace-broker.ts'
import { intended } from './intended.ts'
import { type Difference, differences } from './normalize.ts'
import { administrationScenarios } from './scenarios/administration.ts'
import { brokerScenarios } from './scenarios/broker.ts'
import { configScenarios } from './scenarios/configs.ts'
import { groupScenarios } from './scenarios/groups.ts'
import { logScenarios } from './scenarios/logs.ts'
import { produceScenarios } from './scenarios/produce.ts'
import { readScenarios } from './scenarios/read.ts'
import { topicScenarios } from './scenarios/topics.ts'
import { type Observation, type Scenario, Talk } from './scenario.ts'

const scenarios: readonly Scenario[] = [...brokerScenarios, ...configScenarios, ...topicScenarios, ...produceScenarios, ...readScenarios, ...administrationScenarios,
  ...logScenarios, ...groupScenarios]

/** Nobody waits for members that may come, nor for the interval between two assignments: no answer depends on when others were. Brokers that run already need the same. */
const alike = { 'group.initial.rebalance.delay.ms': '0', 'group.consumer.assignment.interval.ms': '0' }

const usage = `usage: npx tsx test/compat/differential/run.ts [options]

Holds the same conversations with millrace and with Apache Kafka 4.4, in every version of each API, and prints where
their answers differ. Differences that are meant are listed, with a reason each, in differential/intended.ts.

  --bootstrap HOST:PORT         a millrace that runs already (default: starts this checkout's build)
  --preset NAME                 composition of the millrace to start
  --kafka-bootstrap HOST:PORT   a Kafka that runs already; both with group.initial.rebalance.delay.ms=0 and group.consumer.assignment.interval.ms=0
  --only TEXT                   scenarios whose API or name contains TEXT
`

interface Found extends Difference {
  readonly version: number
  readonly step: string
}

async function observe (bootstrap: string, scenario: Scenario, version: number, run: string): Promise<Observation> {
  const talk = new Talk(bootstrap, `${run}-${scenario.api.key}-${version}`)
  try {
    await scenario.run(talk, version)
  } catch (error) {
    talk.note('the conversation ended', (error as Error).message)
  } finally {
    talk.hangUp()
  }
  return talk.observed
}

/** The same difference in neighbouring versions is told once. */
function grouped (found: readonly Found[]): { text: string; versions: number[] }[] {
  const groups = new Map<string, number[]>()
  for (const { version, step, path, ours, theirs } of found) {
    const text = `${step}: ${path === '' ? '' : `${path} `}is ${ours}, Kafka's ${theirs}`
    groups.set(text, [...groups.get(text) ?? [], version])
  }
  return [...groups].map(([text, versions]) => ({ text, versions }))
}

async function main (): Promise<number> {
  const { texts } = scriptOptionsOrExit(usage, { numbers: {}, texts: { bootstrap: '', preset: 'single-node', 'kafka-bootstrap': '', only: '' } })
  const values = texts as Readonly<Record<'bootstrap' | 'preset' | 'kafka-bootstrap' | 'only', string>>
  if (!values['kafka-bootstrap'] && !kafkaAvailable()) {
    console.log("SKIPPED: Kafka's jars could not be had\n\n0 passed, 0 failed, 1 skipped")
    return 0
  }
  const chosen = scenarios.filter(({ api, name }) => `${api.name} ${name}`.includes(values.only))
  const kafka = values['kafka-bootstrap'] ? undefined : await startKafka({ properties: alike })
  const set = Object.entries(alike).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const millrace = values.bootstrap ? undefined : await startMillrace({ args: ['--preset', values.preset, ...set] })
  const [ours, theirs] = [millrace?.bootstrap ?? values.bootstrap, kafka?.bootstrap ?? values['kafka-bootstrap']]
  const run = `d${Date.now().toString(36)}`
  let [passed, failed, meant, steps] = [0, 0, 0, 0]
  try {
    for (const bootstrap of [ours, theirs]) {
      const talk = new Talk(bootstrap, run)
      await talk.coordinate()
      talk.hangUp()
    }
    for (const [i, scenario] of chosen.entries()) {
      const found: Found[] = []
      for (let version = scenario.versions[0]; version <= scenario.versions[1]; version++) {
        const [a, b] = await Promise.all([ours, theirs].map(bootstrap => observe(bootstrap, scenario, version, `${run}-${i}`)))
        for (const step of new Set([...b!.keys(), ...a!.keys()])) {
          steps++
          const all = differences(a!.get(step), b!.get(step)).map(difference => ({ ...difference, version, step }))
          const unmeant = all.filter(difference => !intended(scenario, difference))
          meant += all.length - unmeant.length
          if (unmeant.length > 0) failed++
          else passed++
          found.push(...unmeant)
        }
      }
      console.log(`${found.length === 0 ? 'same   ' : 'DIFFERS'}  ${scenario.api.name} v${scenario.versions.join('-')}: ${scenario.name}`)
      for (const { text, versions } of grouped(found)) console.log(`           v${versions.join(',')}  ${text}`)
    }
  } finally {
    await millrace?.stop()
    await kafka?.stop()
  }
  console.log(`\n${steps} answers compared, ${meant} differences that are meant\n\n${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(`differential: ${(error as Error).stack}`)
  process.exitCode = 1
}
