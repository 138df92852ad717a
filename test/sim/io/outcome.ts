import { Life } from './life.ts'
import { type Injection, type Left, type Phase } from './setting.ts'
import { type SiteTracer } from './site-tracer.ts'

/** What lives without a fault refuse and log, by where they end. */
export class Undisturbed {
  private readonly lives = new Map<Phase, Promise<Life>>()
  private readonly tracer: SiteTracer
  private all: Promise<Life> | undefined

  constructor(tracer: SiteTracer) {
    this.tracer = tracer
  }

  to(phase: Phase): Promise<Life> {
    const life = this.lives.get(phase) ?? this.liveTo(phase)
    this.lives.set(phase, life)
    return life
  }

  /** What a life up to there left on the disk. */
  async leftBefore(phase: Phase): Promise<Left | undefined> {
    return phase === 'restart' || phase === 'recovery' ? (await this.whole()).left.get(phase) : undefined
  }

  whole(): Promise<Life> {
    this.all ??= Life.make(this.tracer).then(made => made.live())
    return this.all
  }

  private async liveTo(phase: Phase): Promise<Life> {
    return await (await Life.make(this.tracer, undefined, { until: phase, from: await this.leftBefore(phase) })).live()
  }
}

export interface Observed {
  /** In the words of docs/io-failures.md. */
  readonly outcome: string
  /** What must never be. */
  readonly violations: readonly string[]
}

/** One life with the fault: what came of it, in the words of docs/io-failures.md. */
export async function observe(tracer: SiteTracer, undisturbed: Undisturbed, injection: Injection): Promise<Observed> {
  const life = await (await Life.make(tracer, injection, { from: await undisturbed.leftBefore(injection.phase) })).live()
  const usual = await undisturbed.to(injection.phase)
  return { outcome: outcomeOf(life, usual, injection.phase), violations: life.violations }
}

function outcomeOf(life: Life, usual: Life, phase: Phase): string {
  if (life.failures === 0) return 'not reached'
  if (life.startError !== undefined) return `start refused: ${life.startError}`
  if (life.ended) return 'broker ends'
  if (life.offline.size > 0) return 'directory offline'
  if (phase === 'stop' && life.leftClean === false) return 'stop not clean'
  const refused = more(life.refused, usual.refused)
  const there = refused.filter(each => each.startsWith('after'))
  if (there.length > 0) return `stays refused: ${codesOf(there)}`
  if (refused.length > 0) return `refused: ${codesOf(refused)}`
  if (life.fenced > usual.fenced) return 'log offline'
  if (more(life.lines.map(messageOf), usual.lines.map(messageOf)).length > 0) return 'logged'
  return 'nothing'
}

const codesOf = (refused: readonly string[]): string => [...new Set(refused.map(each => each.split(': ').slice(1).join(' ')))].sort().join(', ')

const messageOf = (line: string): string => String((JSON.parse(line) as { readonly msg: string }).msg)

/** What is in the one and not, or not as often, in the other. */
function more(these: readonly string[], those: readonly string[]): string[] {
  const left = [...those]
  return these.filter(each => {
    const index = left.indexOf(each)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}
