import { type MemoryFileSystem } from '../../../src/testkit/world/memory-file-system.ts'
import { type CallSite } from '../../sim/io/call-sites.ts'
import { type SiteTracer } from '../../sim/io/site-tracer.ts'

/** Where the product has something synced. */
export const isSync = ({ method }: CallSite): boolean => method === 'sync' || method === 'syncNow' || method === 'syncDirectory'

/**
 * Makes disks on which the sync of one call site is reported as done and does nothing, as if the source did not have it. The same call from elsewhere is honest. `hits` counts
 * the calls.
 */
export class LostSync {
  hits = 0
  readonly site: CallSite
  private readonly tracer: SiteTracer

  constructor(tracer: SiteTracer, site: CallSite) {
    this.tracer = tracer
    this.site = site
  }

  readonly spoil = (files: MemoryFileSystem): void => {
    let end: (() => void) | undefined
    files.observe = ({ kind, path }) => {
      end?.()
      end = undefined
      if ((kind !== 'sync' && kind !== 'sync directory') || !this.tracer.mayBe(this.site, kind) || this.tracer.siteOf(kind, 'file') !== this.site) return
      this.hits++
      end = files.faults.add({ operation: kind, path, damage: 'lie', times: 1 })
    }
  }
}
