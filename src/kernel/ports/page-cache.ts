import { token } from '../plugin/token.ts'

/** What the system keeps in memory of files, on behalf of whoever wrote it. A power that a FileSystem may have besides. */
export interface PageCache {
  /**
   * Names a file together with the life of the page cache that holds it. Found again unchanged, by whatever process, it says that the system
   * has not gone down in between: all that was written on this device is there for reads, synced or not. A power cut begins another life, and
   * a copy of the file, a restored one too, has another name. It knows nothing of syncs that failed, nor of a device that was taken away and
   * came back. Undefined where that cannot be told, and when there is no such file. May throw MR_FILE_DENIED or MR_FILE_FAILED.
   */
  cacheLife(path: string): string | undefined
}
export const PageCache = token<PageCache>('PageCache', { cacheLife: true })
