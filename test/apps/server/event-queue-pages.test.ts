import { expect, it } from 'vitest';
import { createPublisher } from '#server/platform/event-queues/publish-events.js';
import type { ServerTransaction } from '#server/tables.js';
import { eachBackend } from '../../support/test-databases.js';
import { sharedOrganisation } from './organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  /**
   * Publishes events with these texts and reads them. Returns the number of events in each response, and the texts of
   * all events.
   */
  async function pagesOf(texts: readonly string[]) {
    const { queue_id } = await organisation.do('member', 'POST', 'register', { event_types: ['told'] });
    const publish = createPublisher({ notify: async () => undefined }, () => organisation.server.now);
    const audience = [organisation.id('member')];
    await organisation.server.server.database.write((transaction: ServerTransaction) =>
      publish(
        transaction,
        texts.map((text) => ({ event: { type: 'told', text }, audience })),
      ),
    );
    const pages: number[] = [];
    const told: unknown[] = [];
    let last_event_id = -1;
    for (;;) {
      const query = { queue_id, last_event_id, dont_block: true };
      const { events } = await organisation.do('member', 'GET', 'events', query);
      const page = events as { id: number; text: string }[];
      if (page.length === 0) return { pages, told };
      pages.push(page.length);
      told.push(...page.map(({ text }) => text));
      last_event_id = page.at(-1)?.id ?? -1;
    }
  }

  it('events are returned in pages of bounded size, without gaps', async () => {
    const many = Array.from({ length: 900 }, (_, index) => `text ${index}`);
    expect(await pagesOf(many)).toEqual({ pages: [500, 400], told: many });
    const long = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(400 * 1024));
    expect(await pagesOf(long)).toEqual({ pages: [2, 2, 1], told: long });
    const huge = ['a', 'b'].map((letter) => letter.repeat(1100 * 1024));
    expect(await pagesOf(huge)).toEqual({ pages: [1, 1], told: huge });
  });
});
