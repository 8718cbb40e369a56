import { expect, it } from 'vitest';
import { type ObservedQuery, observeQueries } from '../../../../support/observe-queries.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from '../edit/moves-under-test.js';
import { storeEdits } from './store-edits.js';

const longText = 10_000;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  /** The database's cost to read the history of a message with these edits. */
  async function costOf(edits: number, characters: number) {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [id = 0] = await post(organisation, { channelId, content: 'x'.repeat(characters) });
    const text = 'x'.repeat(characters);
    const row = { prev_content: text, prev_rendered_content: text, content_html_diff: text };
    await storeEdits(
      organisation,
      id,
      Array.from({ length: edits }, () => row),
    );
    const queries: ObservedQuery[] = [];
    const { db } = organisation.server.server.database;
    // Ignores the statements of jobs, which run at the same time.
    const stop = observeQueries(db, (query) => {
      if (!query.sql.includes('jobs')) queries.push(query);
    });
    const read = organisation.do('member', 'GET', `messages/${id}/history`);
    const { message_history: snapshots } = await read.finally(stop);
    expect(snapshots).toHaveLength(edits + 1);
    const rows = queries.flatMap((query) => query.rows);
    return {
      statements: queries.length,
      rows: rows.length,
      bytes: JSON.stringify(rows).length,
      largestResult: Math.max(...queries.map((query) => JSON.stringify(query.rows).length)),
    };
  }

  it('reading a hundred long edits costs at most ten times as much as ten short edits, with each text read once', async () => {
    const few = await costOf(10, 10);
    const many = await costOf(100, longText);
    expect(many.statements).toBeLessThanOrEqual(few.statements * 10);
    expect(many.rows).toBeLessThanOrEqual(few.rows * 10);
    // Each edit has a text, its HTML and a diff. The message itself has a text and its HTML.
    const stored = 100 * 3 * longText + 2 * longText;
    expect(many.bytes).toBeLessThan(1.05 * stored);
    // No query reads the whole history at once.
    expect(many.largestResult).toBeLessThan(stored / 10);
  });
});
