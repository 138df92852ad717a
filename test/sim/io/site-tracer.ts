import { type CallSite } from './call-sites.ts'

/** What the simulated disk calls what the methods of the ports do. */
const operations: Readonly<Record<string, readonly string[]>> = {
  open: ['open', 'create'], list: ['list'], stat: ['stat'], makeDirectory: ['make directory'], rename: ['rename'], remove: ['remove'],
  syncDirectory: ['sync directory'], space: ['space'], size: ['size'], read: ['read'], readLater: ['read'], write: ['write'],
  sync: ['sync'], syncNow: ['sync'], truncate: ['truncate'], get: ['get'], range: ['range'],
}

const frame = /((?:async )?)(?:[^()]*\()?([^\s()]*\/src\/([^\s():]+)):(\d+):(\d+)\)?$/
/** And who looks at each call before it is carried out. */
const ofThePort = /^testkit\/world\/(memory-(file-system|file|disk)|crash-enumeration)\.ts$/
const ofTheEngine = /^testkit\/world\/memory-key-value-engine\.ts$/

/** Tells which call site a call on the simulated disk comes from, by the stack. */
export class SiteTracer {
  private readonly byPlace = new Map<string, CallSite>()
  private readonly byLine = new Map<string, CallSite>()
  readonly unknown = new Set<string>()
  private readonly known = new Map<string, CallSite | undefined>()

  constructor(sites: readonly CallSite[]) {
    for (const site of sites) {
      const file = site.file.slice('src/'.length)
      this.byPlace.set(`${file}:${site.line}:${site.column}`, site)
      this.byLine.set(`${file}:${site.line}`, site)
    }
  }

  /** Whether the site may be the one of such a call: cheap, where `siteOf` is not. */
  mayBe(site: CallSite, kind: string): boolean {
    return operations[site.method]!.includes(kind)
  }

  /** Undefined for what a key-value store in memory does with its directory: on a real disk that is LevelDB's. */
  siteOf(kind: string, of: 'file' | 'store'): CallSite | undefined {
    const place = `${of} ${callerOfPort()}`
    if (!this.known.has(place)) this.known.set(place, this.lookUp(kind, of))
    return this.known.get(place)
  }

  private lookUp(kind: string, of: 'file' | 'store'): CallSite | undefined {
    for (const line of new Error().stack!.split('\n').slice(1)) {
      const found = frame.exec(line)
      if (found === null) continue
      const [, isAsync, , file, row, column] = found
      if (ofThePort.test(file!)) continue
      if (ofTheEngine.test(file!)) {
        if (of === 'file') return undefined
        continue
      }
      const site = this.byPlace.get(`${file}:${row}:${column}`) ?? (isAsync === '' && of === 'file' ? undefined : this.byLine.get(`${file}:${row}`))
      if (site === undefined) this.unknown.add(`${kind} at ${file}:${row}:${column}`)
      return site
    }
    return undefined
  }
}

/** Where the port was called, in the code that runs: a stack with places in the sources costs a hundred times as much. */
function callerOfPort(): string {
  const { prepareStackTrace } = Error
  const holder: { stack?: unknown } = {}
  try {
    Error.prepareStackTrace = (_error, frames) => frames.map(each => `${each.getFileName()}:${each.getLineNumber()}:${each.getColumnNumber()}`)
    Error.captureStackTrace(holder)
    const places = holder.stack as readonly string[]
    const first = places.findIndex(place => place.includes('/src/') && !/\/src\/testkit\/world\/(memory-|crash-enumeration)/.test(place))
    return (first < 0 ? places : places.slice(0, first + 1)).filter(place => place.includes('/src/')).join(' ')
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
}
