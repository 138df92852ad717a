import { type ProtocolHandler } from '../../kernel/ports/protocol-handler.ts'
import { type HandlerParts } from './handler-parts.ts'
import { OffsetCommitHandler } from './handlers/08-offset-commit.ts'
import { OffsetFetchHandler } from './handlers/09-offset-fetch.ts'
import { JoinGroupHandler } from './handlers/11-join-group.ts'
import { HeartbeatHandler } from './handlers/12-heartbeat.ts'
import { LeaveGroupHandler } from './handlers/13-leave-group.ts'
import { SyncGroupHandler } from './handlers/14-sync-group.ts'
import { DescribeGroupsHandler } from './handlers/15-describe-groups.ts'
import { ListGroupsHandler } from './handlers/16-list-groups.ts'
import { DeleteGroupsHandler } from './handlers/42-delete-groups.ts'
import { OffsetDeleteHandler } from './handlers/47-offset-delete.ts'
import { ConsumerGroupHeartbeatHandler } from './handlers/68-consumer-group-heartbeat.ts'
import { ConsumerGroupDescribeHandler } from './handlers/69-consumer-group-describe.ts'

/** One for each API of the table. */
export const handlerMakers: readonly ((parts: HandlerParts) => ProtocolHandler)[] = [
  (parts) => new OffsetCommitHandler(parts),
  (parts) => new OffsetFetchHandler(parts),
  (parts) => new JoinGroupHandler(parts),
  (parts) => new HeartbeatHandler(parts),
  (parts) => new LeaveGroupHandler(parts),
  (parts) => new SyncGroupHandler(parts),
  (parts) => new DescribeGroupsHandler(parts),
  (parts) => new ListGroupsHandler(parts),
  (parts) => new DeleteGroupsHandler(parts),
  (parts) => new OffsetDeleteHandler(parts),
  (parts) => new ConsumerGroupHeartbeatHandler(parts),
  (parts) => new ConsumerGroupDescribeHandler(parts),
]
