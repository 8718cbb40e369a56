import type { MessageId, UserId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { type Loss, lossesAmong } from '#server/conversations/messages/removal/losses.js';
import { messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const db = () => organisation.server.server.database.db;

  it('users who lose many messages are found in batches, grouped by the messages that they lose', async () => {
    const [member, second, guest, owner] = (['member', 'second', 'guest', 'owner'] as const).map((who) =>
      organisation.id(who),
    ) as [UserId, UserId, UserId, UserId];
    const ids = Array.from({ length: 1201 }, (_, index) => messageId(1_000_000 + index));
    const has = new Map<UserId, readonly MessageId[]>([
      [member, ids],
      [second, ids],
      [guest, ids.filter((id) => id % 3 === 0)],
      [owner, ids],
    ]);
    const copies = [...has].flatMap(([user_id, own]) =>
      own.map((message_id) => ({ user_id, message_id, flags: 0 })),
    );
    while (copies.length > 0) await db().insertInto('user_messages').values(copies.splice(0, 500)).execute();

    const pieces: Loss[][] = [];
    for await (const piece of lossesAmong(db(), [member, second, guest], ids)) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    for (const piece of pieces) {
      expect(new Set(piece.flatMap((loss) => loss.ids)).size).toBeLessThanOrEqual(500);
      expect(piece.map(({ audience }) => audience)).toEqual(
        [[member, second], [guest]].sort(([one = 0], [other = 0]) => one - other),
      );
    }
    const lost = (userId: UserId) =>
      pieces.flat().flatMap((loss) => (loss.audience.includes(userId) ? loss.ids : []));
    for (const userId of [member, second, guest]) expect(lost(userId)).toEqual(has.get(userId));
    expect(lost(owner)).toEqual([]);
  });
});
