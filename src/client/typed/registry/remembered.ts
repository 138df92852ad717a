import { LruCache } from '../../../base/lru-cache.ts'
import { isMillraceError } from '../../../kernel/errors/index.ts'
import { type Clock } from '../../../kernel/ports/clock.ts'

export interface RememberedOptions {
  readonly entriesMax: number
  readonly clock: Clock
  /** Infinity for what never changes. */
  readonly ageMsMax: number
  /** For how long it is remembered that there is none. 0: not at all. */
  readonly missingAgeMsMax: number
}

/** Answers by their questions. Who asks what is being asked already gets the same answer. Failures are told to all who wait, and only the missing are remembered. */
export class Remembered<V> {
  private readonly options: RememberedOptions
  private readonly values: LruCache<string, { readonly value: V, readonly sinceMs: number }>
  private readonly missing: LruCache<string, { readonly error: unknown, readonly sinceMs: number }>
  private readonly underWay = new Map<string, Promise<V>>()

  constructor(options: RememberedOptions) {
    this.options = options
    this.values = new LruCache({ weightMax: options.entriesMax })
    this.missing = new LruCache({ weightMax: options.entriesMax })
  }

  /** Undefined when it would have to be asked for. */
  known(key: string): V | undefined {
    const found = this.values.get(key)
    return found !== undefined && this.nowMs() - found.sinceMs < this.options.ageMsMax ? found.value : undefined
  }

  get(key: string, ask: () => Promise<V>): Promise<V> {
    const known = this.known(key)
    if (known !== undefined) return Promise.resolve(known)
    const missing = this.missing.get(key)
    if (missing !== undefined && this.nowMs() - missing.sinceMs < this.options.missingAgeMsMax) return Promise.reject(missing.error as Error)
    const asked = this.underWay.get(key)
    if (asked !== undefined) return asked
    const answer = this.ask(key, ask)
    this.underWay.set(key, answer)
    return answer
  }

  private async ask(key: string, ask: () => Promise<V>): Promise<V> {
    try {
      const value = await ask()
      this.values.set(key, { value, sinceMs: this.nowMs() })
      this.missing.delete(key)
      return value
    } catch (error) {
      if (isMillraceError(error, 'MR_REGISTRY_NOT_FOUND') && this.options.missingAgeMsMax > 0) this.missing.set(key, { error, sinceMs: this.nowMs() })
      throw error
    } finally {
      this.underWay.delete(key)
    }
  }

  private nowMs(): number {
    return this.options.clock.monotonicMs()
  }
}
