import type { MessageId } from '@waxwing/protocol';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTransaction } from '../../../tables.js';
import { awakeningEvents, isRecentlyActive } from '../../channels/recent-activity.js';
import { withdrawNotifications } from '../push/withdraw-notifications.js';
import { noteFirstAndLast } from '../removal/note-channel-ends.js';
import { followMovedMessage } from '../topics/follow-automatically.js';
import type { EditedChannels, LosingAccess } from './edit-audience.js';
import type { EditContext } from './edit-context.js';
import type { AppliedMove } from './move-notices.js';
import type { PlannedMove } from './plan-edit.js';
import { moveCopies, moveMessages, readsAnyIn } from './store-edit.js';
import { moveTopicSettings } from './topic-settings.js';

/** A move that passed all checks, with the ids of the messages to move. */
export interface DecidedMove {
  readonly message: AppliedMove['message'];
  readonly move: PlannedMove;
  readonly channels: EditedChannels;
  readonly actor: PermissionHolder;
  readonly now: number;
  /** In ascending order. */
  readonly ids: readonly MessageId[];
  readonly losingAccess: LosingAccess;
  readonly isTopicNew: boolean;
}

/** Moves locked messages. Pass the result to `postMoveNotices` after all other events of the edit are published. */
export async function applyMove(
  transaction: ServerTransaction,
  context: EditContext,
  moved: DecidedMove,
): Promise<AppliedMove> {
  const { move, channels, actor, now, ids, losingAccess, isTopicNew } = moved;
  const { db } = transaction;
  const wasThere = await readsAnyIn(db, move.to, actor, ids);
  await moveMessages(db, move, ids, now);
  if (move.isChannelChanged) {
    const outsideChannelId = channels.target.id;
    await withdrawNotifications(transaction, context, { messageIds: ids, outsideChannelId });
    await moveCopies(db, channels.target, ids);
    await noteFirstAndLast(db, [channels.origin.id, channels.target.id]);
    const dormant = isRecentlyActive(channels.target, now) ? [] : [channels.target.id];
    await context.publish(transaction, await awakeningEvents(db, dormant, now));
  }
  const isWhole = move.propagateMode === 'change_all' || !(await readsAnyIn(db, move.from, actor, ids));
  if (isWhole) {
    await moveTopicSettings(transaction, context, { move, channels, ids, isTopicNew, losingAccess });
  } else if (isTopicNew) {
    await followMovedMessage(transaction, context, { senderId: moved.message.senderId, ...move.to });
  }
  return { ...moved, isWhole, wasThere };
}
