/** What runs in the thread of compaction: one for all logs of a store. */
import { installNativeCrc32c } from '../../platform/codecs/native-crc32c.ts'
import { NodeCompression } from '../../platform/codecs/node-compression.ts'
import { NodeFileSystem } from '../../platform/node-file-system.ts'
import { giveWay, startedBy } from '../../platform/node-threads.ts'
import { promptFileCalls } from '../../platform/prompt-file-calls.ts'
import { type ToWorker } from './work-messages.ts'
import { WorkerRounds } from './worker-rounds.ts'

installNativeCrc32c()
giveWay()
const tell = startedBy(message => { rounds.take(message as ToWorker) })
// It has nothing else to do while a disk is waited for, and the thread pool is for those who have.
const rounds = new WorkerRounds({ files: new NodeFileSystem(promptFileCalls), compression: new NodeCompression() }, tell)
