import type { UserId } from '@waxwing/protocol';
import { expect, it } from 'vitest';
import { removalEvents } from '#server/conversations/messages/removal/removal-events.js';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { ServerTransaction } from '#server/tables.js';
import { channelId, messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';

const gone = { ids: [3, 5, 8].map(messageId), channelId: channelId(2), topic: 'lunch' };

it('a removal of many messages is one event, so each queue is matched once', () => {
  expect(removalEvents(gone, [1 as UserId])).toHaveLength(1);
  expect(removalEvents({ ...gone, ids: [] }, [1 as UserId])).toEqual([]);
  expect(removalEvents(gone, [])).toEqual([]);
});

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  it('a removal is one event, or one event per message for clients without support for bulk deletion', async () => {
    const [bulk, plain] = [
      await organisation.watch('member', { client_capabilities: '{"bulk_message_deletion":true}' }),
      await organisation.watch('member', {}),
    ];
    const publish = createPublisher({ notify: async () => undefined }, () => organisation.server.now);
    await organisation.server.server.database.write((transaction: ServerTransaction) =>
      publish(transaction, removalEvents(gone, [organisation.id('member')])),
    );
    const place = { type: 'delete_message', message_type: 'stream', stream_id: 2, topic: 'lunch' };
    expect(await bulk()).toEqual([{ ...place, message_ids: [3, 5, 8].map(messageId) }]);
    expect(await plain()).toEqual([3, 5, 8].map((id) => ({ ...place, message_id: id })));
  });
});
