/** What runs in the thread of compaction: one for all logs of a store. */
import { installNativeCrc32c } from '../../platform/codecs/native-crc32c.ts'
import { NodeCompression } from '../../platform/codecs/node-compression.ts'
import { giveWay, startedBy } from '../../platform/node-threads.ts'
import { type ToWorker } from './work-messages.ts'
import { WorkerRounds } from './worker-rounds.ts'

installNativeCrc32c()
giveWay()
const tell = startedBy(message => { rounds.take(message as ToWorker) })
const rounds = new WorkerRounds(new NodeCompression(), tell)
