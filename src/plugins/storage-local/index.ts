export { SegmentedLogStore } from './segmented-log-store.ts'
export { storageLocal, storageLocal as plugin } from './plugin.ts'
export { groupsIn, type RedoEntry, type RedoGroup } from './core/redo-group.ts'
export { cutOffFile, missingFile, orderGroups, RedoHole } from './core/redo-history.ts'
