export { MemoryLogStore } from './memory-log-store.ts'
export { storageMemory, storageMemory as plugin } from './plugin.ts'
