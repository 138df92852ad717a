/** What runs in the thread beside: one for all members of a process. */
import { startedBy } from '../../platform/node-threads.ts'
import { NetworkChannel } from '../channel/network-channel.ts'
import { thisMachine } from '../machine.ts'
import { type ToStandIn } from './stand-in-messages.ts'
import { StandInWatch } from './stand-in-watch.ts'

const watches = new Map<number, StandInWatch>()

const tell = startedBy((message) => {
  const told = message as ToStandIn
  const id = told.type === 'watch' ? told.member.id : told.id
  watches.get(id)?.close()
  watches.delete(id)
  if (told.type !== 'watch') return
  const { member } = told
  const world = thisMachine()
  watches.set(id, new StandInWatch(world, member, new NetworkChannel(world, member.client, member.endpoint), (answer) => { tell(answer) }))
})
