import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { observeQueries } from '../../../support/observe-queries.js';
import { commandsUnderTest } from '../commands-under-test.js';
import { ServerUnderTest } from '../server-under-test.js';

let test: ServerUnderTest;
const { run, runJson } = commandsUnderTest(() => test);

beforeEach(async () => {
  test = await ServerUnderTest.start();
});
afterEach(() => test.close());

describe('users list', () => {
  it('shows all users without keys, as text and as JSON', async () => {
    const ada = await runJson('users add --email ada@example.com --role guest');
    await runJson('users add --email bot@example.com --bot');
    const { users } = await runJson('users list');
    expect(users).toEqual([
      { user_id: ada.user_id, email: 'ada@example.com', full_name: 'ada', role: 600, is_bot: false },
      expect.objectContaining({ email: 'bot@example.com', is_bot: true, bot_owner_id: null }),
    ]);
    const { printed } = await run('users list');
    expect(printed).toContain('ada@example.com');
    expect(printed).toContain('guest');
    expect(printed).not.toContain(ada.api_key);
  });

  it('shows only users whose name or address contains a text, up to the requested number', async () => {
    for (const name of ['Ada', 'Grace', 'Adam']) {
      await runJson(`users add --email ${name.toLowerCase()}@example.com --name ${name}`);
    }
    const emailsOf = async (options: string) => {
      const { users } = await runJson(`users list ${options}`);
      return (users as { email: string }[]).map(({ email }) => email);
    };
    expect(await emailsOf('ADA')).toEqual(['ada@example.com', 'adam@example.com']);
    expect(await emailsOf('@example.com --limit 2')).toEqual(['ada@example.com', 'grace@example.com']);
    const { code, said } = await run('users list --limit 0');
    expect(code).not.toBe(0);
    expect(said).toContain('it must be a whole number from 1 to 999999999');
  });

  it('prints the first of 100,000 users before it has read the last', async () => {
    const rows = Array.from({ length: 100_000 }, (_, number) => ({ number }));
    await test.server.database.write(({ db }) =>
      sql`
        insert into users (email, email_lower, full_name, role, is_bot, api_key_hash, is_active, created_at)
        select 'many' || number || '@example.com', 'many' || number || '@example.com', 'Many', 400, 0, '', 1, 0
        from ${rowsAsTable(db, 'v', { number: 'integer' }, rows)}`.execute(db),
    );
    for (const options of ['--json', '']) {
      const happened: string[] = [];
      const stop = observeQueries(test.server.database.db, ({ rows }) => {
        // Counts only full pages, because other work in this process reads a few rows at the same time.
        if (rows.length >= 1000) happened.push(`read ${rows.length}`);
      });
      const { printed } = await run(
        `users list ${options}`.trim(),
        undefined,
        '',
        () => void happened.push('print'),
      ).finally(stop);
      expect(printed).toContain('many99999@example.com');
      expect(happened.lastIndexOf('print') - happened.indexOf('print')).toBeGreaterThan(100);
      const pages = happened.filter((each) => each.startsWith('read 1000'));
      expect(pages).toHaveLength(100);
      // Each page is printed before the next page is read.
      const firstPage = happened.indexOf('read 1000');
      expect(
        happened
          .slice(firstPage)
          .filter((each, index, all) => each !== 'print' && all[index + 1] !== 'print'),
      ).toEqual([]);
    }
  });
});
