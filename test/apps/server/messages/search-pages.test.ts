import { CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { observeQueries } from '../../../support/observe-queries.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { addChannel } from './chat-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const sent: number[] = [];
  let foreign: number;
  let channel: number;

  beforeAll(async () => {
    const { id: own } = await addChannel(organisation, { members: ['member'] });
    channel = own;
    const { id: other } = await addChannel(organisation, { members: ['second'] });
    const send = async (who: 'member' | 'second', to: number, content: string) => {
      const message = { type: 'channel', to, topic: 'one', content };
      return Number((await organisation.do(who, 'POST', 'messages', message)).id);
    };
    for (const content of ['hello world', 'good bye', 'Hello again', 'hello, world'])
      sent.push(await send('member', own, content));
    foreign = await send('second', other, 'hello world');
  });

  const search = async (anchor: number | 'newest', fields: Record<string, unknown>) => {
    const answer = await organisation.do('member', 'GET', 'messages', {
      anchor: String(anchor),
      num_before: 0,
      num_after: 0,
      ...fields,
    });
    const { messages, found_newest, found_oldest } = answer;
    return { ids: (messages as { id: number }[]).map(({ id }) => id), found_newest, found_oldest };
  };
  const hello = [{ operator: 'search', operand: 'hello' }];

  describe('a search', () => {
    it('returns pages around an anchor, without messages that the user has no copy of', async () => {
      const [first, second, third, last] = sent as [number, number, number, number];
      expect((await search('newest', { num_before: 2, narrow: hello })).ids).toEqual([third, last]);
      expect((await search(second, { num_before: 5, num_after: 1, narrow: hello })).ids).toEqual([
        first,
        third,
      ]);
      expect(await search(last, { num_after: 5, narrow: hello })).toEqual({
        ids: [last],
        found_newest: true,
        found_oldest: false,
      });
      expect((await search('newest', { num_before: 9, narrow: hello })).ids).not.toContain(foreign);
    });

    it('finds messages that match all search terms and no negated term', async () => {
      const world = { operator: 'search', operand: 'world' };
      expect((await search('newest', { num_before: 9, narrow: [...hello, world] })).ids).toEqual([
        sent[0],
        sent[3],
      ]);
      const others = [...hello, { ...world, negated: true }];
      expect((await search('newest', { num_before: 9, narrow: others })).ids).toEqual([sent[2]]);
    });

    const page = { anchor: 'newest', num_before: 2, num_after: 0 };
    const planOf = async (narrow: unknown, fields: Record<string, unknown> = page) => {
      const { database } = organisation.server.server;
      const seen: { sql: string; parameters: readonly unknown[] }[] = [];
      const stop = observeQueries(database.db, (query) => void seen.push(query));
      await organisation.do('member', 'GET', 'messages', { ...fields, narrow }).finally(stop);
      const [query, ...others] = seen.filter(({ sql }) => sql.includes('message_search'));
      expect(others).toEqual([]);
      const explained = CompiledQuery.raw(`explain query plan ${query?.sql}`, [...(query?.parameters ?? [])]);
      const plan = await database.db.executeQuery(explained);
      return plan.rows.map((row) => (row as { readonly detail: string }).detail);
    };

    it('does not collect all matches on SQLite', async () => {
      if (backend.name === 'postgres') return;
      for (const narrow of [hello, [...hello, { operator: 'channels', operand: 'public' }]]) {
        const steps = await planOf(narrow);
        expect(steps[0]).toMatch(/^SCAN message_search VIRTUAL TABLE/);
        expect(steps).not.toContain('USE TEMP B-TREE FOR ORDER BY');
      }
    });

    it('reads a match on SQLite only if the user has a copy of it', async () => {
      if (backend.name === 'postgres') return;
      const [matches, copy, message] = await planOf(hello);
      expect(matches).toMatch(/^SCAN message_search VIRTUAL TABLE/);
      expect(copy).toMatch(/^SEARCH copy USING PRIMARY KEY \(message_id=\? AND user_id=\?\)/);
      expect(message).toMatch(/^SEARCH messages USING INTEGER PRIMARY KEY/);
    });

    it('looks up messages by id among the matches, also of a search in a channel', async () => {
      const [first = 0, second = 0] = sent;
      const narrow = [...hello, { operator: 'channel', operand: channel }];
      const { messages } = await organisation.do('member', 'GET', 'messages', { message_ids: sent, narrow });
      expect((messages as { id: number }[]).map(({ id }) => id)).toEqual(sent.filter((id) => id !== second));
      if (backend.name === 'postgres') return;
      const steps = await planOf(narrow, { message_ids: [first, second] });
      expect(steps.filter((step) => step.includes('message_search'))).toEqual([
        expect.stringMatching(/^SCAN message_search VIRTUAL TABLE INDEX 0:=/),
      ]);
    });

    it('compares the messages of a channel with the matches of all searches together', async () => {
      const narrow = [
        ...hello,
        { operator: 'search', operand: 'world' },
        { operator: 'channel', operand: channel },
      ];
      expect((await search('newest', { num_before: 9, narrow })).ids).toEqual([sent[0], sent[3]]);
      if (backend.name === 'postgres') return;
      const steps = await planOf(narrow);
      expect(steps.filter((step) => step.includes('message_search'))).toHaveLength(1);
    });
  });
});
