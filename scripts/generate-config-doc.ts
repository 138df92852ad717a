import { writeFileSync } from 'node:fs'
import { brokerConfigTable } from '../src/kernel/config/broker-config-table.ts'
import { isDescribed, isSensitive, type BrokerConfigRow, type ConfigRow, type TopicConfigRow } from '../src/kernel/config/config-row.ts'
import { allowedValues } from '../src/kernel/config/parse-config-value.ts'
import { topicConfigTable } from '../src/kernel/config/topic-config-table.ts'
import { ownPlugins, pluginSections } from './plugin-settings-doc.ts'
import { scriptOptionsOrExit } from './script-options.ts'

/** docs/config.md, made from the tables and from the plugins' schemas: `npx tsx scripts/generate-config-doc.ts` writes it, a test keeps it equal. */
export async function configDoc(): Promise<string> {
  const topics = topicConfigTable.filter(shown)
  const brokers = brokerConfigTable.filter(shown)
  const working = (rows: readonly ConfigRow[]): number => rows.filter((row) => row.effect === 'works').length
  return `# Settings

Made from the tables in \`src/kernel/config\` and the schemas of the plugins; do not edit. Of topics and brokers, names, types, defaults and
ranges are those of Apache Kafka 4.4, which a test checks against Kafka's own list, but where a row says why not. \`durability\` and \`batch.check\` are ours.

An unknown name is refused with the nearest one. A setting **without effect** is accepted with a warning when it is changed; one that would
promise what is not kept is **refused** but for the values named. A log store is durable when its plugin declares so: \`storage-local\` does,
\`storage-memory\` does not.

A broker's settings come from, later ones win: the preset, the configuration file, the environment, the command line. A topic's own value goes
before the broker's setting named in its row, which goes before the default. [Plugins](#plugins) have settings of their own.

## Topics

${topics.length} settings, ${working(topics)} of them in effect.

| setting | default | allowed | broker's setting | what it does |
|---|---|---|---|---|
${topics.map(topicLine).join('\n')}

## Brokers

${brokers.length} settings, ${working(brokers)} of them in effect. None can be changed while the broker runs.

| setting | default | allowed | what it does |
|---|---|---|---|
${brokers.filter((row) => row.effect === 'works').map(brokerLine).join('\n')}

### Refused

| setting | default | allowed | what it does |
|---|---|---|---|
${brokers.filter((row) => typeof row.effect === 'object' && 'refused' in row.effect).map(brokerLine).join('\n')}

### Without effect

| setting | default | allowed | what it does |
|---|---|---|---|
${brokers.filter((row) => typeof row.effect === 'object' && 'none' in row.effect).map(brokerLine).join('\n')}

## Plugins

What has no name in Kafka, said in the configuration under \`settings\` and the plugin's name, as in \`settings: { retention: { jitterMs: 0 } }\`.
An unknown key is refused with the nearest one. Of these, \`http\` is short for admin-http's \`listen\`, \`logLevel\` for observability's, and
\`insecure\` for those of admin-http and protocol-kafka; the command line has these three, and the environment none. A preset,
and how a broker is started, change some defaults, which \`millrace config print\` shows. Plugins of others are described by whoever offers them.

${pluginSections(await ownPlugins())}`
}

const shown = (row: ConfigRow): boolean => isDescribed(row, false)

function topicLine(row: TopicConfigRow): string {
  const brokers = row.synonyms.map((synonym) => `\`${synonym.name}\``).join(', ')
  return `| \`${row.name}\` | ${value(row.default)} | ${cell(allowedValues(row))} | ${brokers} | ${effect(row)} |`
}

function brokerLine(row: BrokerConfigRow): string {
  return `| \`${row.name}\` | ${value(row.default)} | ${isSensitive(row) ? 'a secret' : cell(allowedValues(row))} | ${effect(row)} |`
}

function effect(row: ConfigRow): string {
  const differs = [row.differs === undefined ? '' : ` Not Kafka's default: ${row.differs}.`, row.stricter === undefined ? '' : ` Kafka allows less: ${row.stricter}.`].join('')
  const caveat = row.caveat === undefined ? '' : ` Here ${row.caveat.text}.`
  const needs = row.needs === undefined ? '' : ` **Without effect** over a log store that ${row.needs.capability === 'durable' ? 'is not durable' : 'does not compact'}.`
  if (row.effect === 'works') return cell(`${row.doc}${caveat}${needs}${differs}`)
  if ('none' in row.effect) return cell(`${row.doc} **Without effect**: ${row.effect.none}.${differs}`)
  return cell(`${row.doc} **Refused** but for ${row.effect.allowed.map(value).join(', ')}: ${row.effect.refused}.${differs}`)
}

const value = (text: string | undefined): string => (text === undefined ? 'none' : text === '' ? 'empty' : `\`${text}\``)
const cell = (text: string): string => text.replaceAll('|', '\\|')

if (process.argv[1] === import.meta.filename) {
  scriptOptionsOrExit('Usage: npx tsx scripts/generate-config-doc.ts\n\nWrites docs/config.md from the tables of settings and the schemas of plugins. It has no options.', { numbers: {} })
  writeFileSync(new URL('../docs/config.md', import.meta.url), await configDoc())
}
