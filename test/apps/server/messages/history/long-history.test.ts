import { contentHtmlDiff } from '@waxwing/markdown';
import { describe, expect, it } from 'vitest';
import fc from '../../../../support/fast-check.js';
import { messageId } from '../../../../support/ids.js';
import { eachBackend } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from '../edit/moves-under-test.js';
import { type EditRow, storeEdits } from './store-edits.js';

interface Snapshot {
  readonly content: string;
  readonly prev_content?: string;
  readonly content_html_diff?: string;
}

const mebibyte = 1024 * 1024;
const deleted = (text: string) => `<span class="highlight_text_deleted">${text}</span>`;
const inserted = (text: string) => `<span class="highlight_text_inserted">${text}</span>`;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const edit = (id: number, content: string) =>
    organisation.do('member', 'PATCH', `messages/${id}`, { content });
  const policy = (word: string) =>
    organisation.do('owner', 'PATCH', 'realm', { message_edit_history_visibility_policy: word });

  async function send(content: string): Promise<number> {
    const { id: channelId } = await addChannel(organisation, { members: ['member'] });
    const [id = 0] = await post(organisation, { channelId, content });
    return id;
  }

  async function history(id: number): Promise<Snapshot[]> {
    return (await organisation.do('member', 'GET', `messages/${id}/history`)).message_history as Snapshot[];
  }

  const addEdits = (id: number, rows: readonly EditRow[]) => storeEdits(organisation, id, rows);

  const textBefore = (text: string): EditRow => ({
    prev_content: text,
    prev_rendered_content: `<p>${text}</p>`,
  });
  const move = { prev_topic: 'lunch', topic: 'dinner' };

  /** Expects that each snapshot starts from the previous snapshot's text. */
  function expectChain(snapshots: readonly Snapshot[]): void {
    const texts = snapshots.slice(0, -1).map(({ content }) => content);
    expect(snapshots.slice(1).map((each, index) => each.prev_content ?? texts[index])).toEqual(texts);
  }

  describe('the edit_history of a message in a list', () => {
    type Entry = { readonly prev_content?: string };
    async function entries(id: number): Promise<(string | undefined)[]> {
      const answer = await organisation.do('member', 'GET', 'messages', { message_ids: [id] });
      const [message] = answer.messages as { readonly edit_history?: readonly Entry[] }[];
      return (message?.edit_history ?? []).map(({ prev_content }) => prev_content);
    }

    it('has the newest ten edits, newest first', async () => {
      const [id, other] = [await send('now'), await send('now')];
      const texts = Array.from({ length: 25 }, (_, index) => `text ${index}`);
      await addEdits(id, [...texts.map(textBefore), move]);
      await addEdits(other, [textBefore('other')]);
      expect(await entries(id)).toEqual([undefined, ...texts.toReversed().slice(0, 9)]);
      expect(await entries(other)).toEqual(['other']);
      expect(await entries(await send('never edited'))).toEqual([]);
    });

    it('has only the newest edit if the texts are large', async () => {
      const id = await send('now');
      const texts = ['a', 'b', 'c'].map((text) => text.repeat(20_000));
      await addEdits(id, texts.map(textBefore));
      expect(await entries(id)).toEqual([texts[2]]);
    });
  });

  describe('the history of a message', () => {
    it('has the diff that was computed with the edit', async () => {
      const id = await send('a *b* c');
      await edit(id, 'a *d* c');
      const { db } = organisation.server.server.database;
      const rows = db.selectFrom('message_edits').where('message_id', '=', messageId(id));
      const [{ content_html_diff } = {}] = await rows.select('content_html_diff').execute();
      expect(content_html_diff).toBe(contentHtmlDiff('<p>a <em>b</em> c</p>', '<p>a <em>d</em> c</p>'));
      await organisation.server.server.database.write(({ db: writing }) =>
        writing
          .updateTable('message_edits')
          .set({ content_html_diff: 'stored' })
          .where('message_id', '=', messageId(id))
          .execute(),
      );
      expect((await history(id))[1]?.content_html_diff).toBe('stored');
    });

    it('has a diff from the actual previous text if two edits are concurrent', async () => {
      const id = await send('zero');
      await Promise.all([edit(id, 'one'), edit(id, 'two')]);
      const snapshots = await history(id);
      expectChain(snapshots);
      for (const { content, prev_content = '', content_html_diff } of snapshots.slice(1))
        expect(content_html_diff).toBe(`<div><p>${deleted(prev_content)}${inserted(content)}</p></div>`);
    });

    it('shows a text without a stored diff as replaced between the first and the last difference', async () => {
      const id = await send('a y c z e');
      await addEdits(id, [textBefore('a b c d e')]);
      const [, changed] = await history(id);
      expect(changed?.content_html_diff).toBe(
        `<div><p>a ${deleted('b c d')}${inserted('y c z')} e</p></div>`,
      );
    });

    it('has the newest thousand edits and the original, however often the text was edited', async () => {
      const id = await send('text 999');
      await addEdits(
        id,
        Array.from({ length: 999 }, (_, index) => textBefore(`text ${index}`)),
      );
      await edit(id, 'text 1000');
      expect(await history(id)).toHaveLength(1001);
      await edit(id, 'text 1001');
      await edit(id, 'text 1002');
      const snapshots = await history(id);
      expect(snapshots).toHaveLength(1001);
      expectChain(snapshots);
      expect(snapshots.slice(0, 3).map(({ content }) => content)).toEqual(['text 0', 'text 3', 'text 4']);
      expect(snapshots[1]?.content_html_diff).toBe(`<div><p>text ${deleted('0')}${inserted('3')}</p></div>`);
      expect(snapshots.at(-1)?.content).toBe('text 1002');
    });

    it('has the newest eight mebibytes of earlier texts and the original', async () => {
      const id = await send('now');
      const texts = Array.from({ length: 12 }, (_, index) => `${index} `.padEnd(mebibyte / 2, 'x'));
      await addEdits(id, texts.map(textBefore));
      await edit(id, 'later');
      const snapshots = await history(id);
      expectChain(snapshots);
      // Each text takes one mebibyte with its HTML, so seven fit and an eighth would exceed the limit.
      expect(snapshots.map(({ content }) => content.slice(0, 2).trim())).toEqual([
        ...['0', '6', '7', '8', '9', '10', '11'],
        ...['no', 'la'],
      ]);
    });

    it('has the newest thousand moves', async () => {
      const id = await send('text');
      await addEdits(
        id,
        Array.from({ length: 1002 }, (_, index) => ({ prev_topic: `t${index}`, topic: `t${index + 1}` })),
      );
      const snapshots = (await history(id)) as { topic?: string }[];
      expect(snapshots).toHaveLength(1001);
      expect(snapshots[0]?.topic).toBe('t2');
    });

    it('shows no text from before the first move with the policy moves, even if older edits were dropped', async () => {
      const id = await send('today');
      const texts = Array.from({ length: 997 }, (_, index) => textBefore(`text ${index}`));
      await addEdits(id, [textBefore('secret'), textBefore('dropped'), move, ...texts]);
      await edit(id, 'one more');
      await policy('moves');
      const moves = await history(id);
      await policy('all');
      expect(moves.map(({ content }) => content)).toEqual(['text 0', 'text 0']);
      await edit(id, 'and another');
      const all = await history(id);
      expectChain(all);
      expect(all.slice(0, 2).map(({ content }) => content)).toEqual(['secret', 'text 0']);
    });

    it('starts with the original text, for any sequence of edits and moves', async () => {
      const moveRow = (index: number) => ({ prev_topic: `t${index}`, topic: `t${index + 1}` });
      const property = fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 8 }),
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 700 })), { minLength: 1, maxLength: 6 }),
        async (isMoveAtOnce, runs) => {
          const id = await send('now');
          const isMove = [
            ...isMoveAtOnce,
            false,
            ...runs.flatMap(([moves, length]) => Array(length).fill(moves)),
          ];
          const first = isMove.indexOf(false);
          await addEdits(
            id,
            isMove.map((moves, index) => (moves ? moveRow(index) : textBefore(`text ${index}`))),
          );
          for (const text of [undefined, 'later', 'at last']) {
            if (text !== undefined) await edit(id, text);
            const snapshots = await history(id);
            expectChain(snapshots);
            expect(snapshots[0]?.content).toBe(`text ${first}`);
            expect(snapshots.length).toBeLessThanOrEqual(1001);
            expect(snapshots.length).toBe(
              1 + Math.min(1000, isMove.length + ['later', 'at last'].indexOf(text ?? '') + 1),
            );
          }
        },
      );
      await fc.assert(property, { numRuns: 10 });
    });

    it('starts with the original text, even after more moves than it shows', async () => {
      const id = await send('now');
      const moves = Array.from({ length: 1500 }, (_, index) => ({
        prev_topic: `t${index}`,
        topic: `t${index + 1}`,
      }));
      await addEdits(id, [textBefore('original'), ...moves]);
      for (const text of [undefined, 'later']) {
        if (text !== undefined) await edit(id, text);
        const snapshots = await history(id);
        expect(snapshots).toHaveLength(1001);
        expect(snapshots[0]?.content).toBe('original');
        expect(snapshots[1]).toMatchObject({ content: 'now', prev_content: 'original' });
        expectChain(snapshots);
      }
    });
  });
});
