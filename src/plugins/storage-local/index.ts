export { SegmentedLogStore } from './segmented-log-store.ts'
export { storageLocal, storageLocal as plugin } from './plugin.ts'
