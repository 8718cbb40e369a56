import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const minute = 60_000;

  it.each([
    ['0', 10 * minute],
    ['60', 10 * minute],
    ['3600', 60 * minute],
    ['99999999', 7 * 24 * 60 * minute],
  ])(
    'a queue with queue_lifespan_secs=%s expires %d ms after its last request',
    async (queue_lifespan_secs, milliseconds) => {
      const { queue_id } = await organisation.do('member', 'POST', 'register', {
        ...{ queue_lifespan_secs, fetch_event_types: [] },
      });
      const poll = async () =>
        (
          await organisation.ask('member', 'GET', 'events', {
            ...{ queue_id, last_event_id: -1, dont_block: true },
          })
        ).body;
      const before = organisation.server.now;
      organisation.server.now = before + milliseconds - 1;
      await organisation.do('member', 'PATCH', 'settings', { enter_sends: true });
      const { events = [] } = await poll();
      organisation.server.now += milliseconds;
      expect([(events as unknown[]).length, (await poll()).code]).toEqual([1, 'BAD_EVENT_QUEUE_ID']);
      await organisation.do('member', 'PATCH', 'settings', { enter_sends: false });
    },
  );

  it('queue_lifespan_secs cannot be negative', async () => {
    const { status, body } = await organisation.ask('member', 'POST', 'register', {
      queue_lifespan_secs: -1,
    });
    expect([status, body.code, body.msg]).toEqual([
      ...[400, 'BAD_REQUEST', 'Invalid queue_lifespan_secs: must not be negative'],
    ]);
  });
});
