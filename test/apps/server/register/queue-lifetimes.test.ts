import { expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const minute = 60_000;

  it.each([
    ['queue_lifespan_secs', '0', 10 * minute],
    ['queue_lifespan_secs', '60', 10 * minute],
    ['queue_lifespan_secs', '3600', 60 * minute],
    ['idle_queue_timeout', '5', 10 * minute],
    ['idle_queue_timeout', '3600', 60 * minute],
    ['idle_queue_timeout', 'mobile', 12 * 60 * minute],
    ['idle_queue_timeout', '"mobile"', 12 * 60 * minute],
    ['idle_queue_timeout', '99999999', 7 * 24 * 60 * minute],
  ])(
    'a queue with %s=%s expires %d ms after its last request, and the response contains this time',
    async (name, value, milliseconds) => {
      const { queue_id, idle_queue_timeout_secs } = await organisation.do('member', 'POST', 'register', {
        [name]: value,
        fetch_event_types: [],
      });
      expect(idle_queue_timeout_secs).toBe(milliseconds / 1000);
      const poll = async () =>
        (
          await organisation.ask('member', 'GET', 'events', {
            queue_id,
            last_event_id: -1,
            dont_block: true,
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

  it.each(['-1', 'desktop', '1.5'])('idle_queue_timeout cannot be %s', async (idle_queue_timeout) => {
    const { status, body } = await organisation.ask('member', 'POST', 'register', { idle_queue_timeout });
    expect([status, body.code, body.msg]).toEqual([
      ...[
        400,
        'BAD_REQUEST',
        'Invalid idle_queue_timeout: must be a non-negative number of seconds, or mobile',
      ],
    ]);
  });

  it('queue_lifespan_secs cannot be negative', async () => {
    const { status, body } = await organisation.ask('member', 'POST', 'register', {
      queue_lifespan_secs: -1,
    });
    expect([status, body.code, body.msg]).toEqual([
      ...[400, 'BAD_REQUEST', 'Invalid queue_lifespan_secs: must not be negative'],
    ]);
  });
});
