import { ProtocolError } from '@waxwing/protocol';
import { roles, serverOperations } from '@waxwing/server';
import { type AnyOperation, pathParameters } from '@waxwing/service/http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account, Answer, ServerUnderTest } from '../server-under-test.js';

// Every operation that is declared is tried, without a word about it here.

const prefix = '/api/v1/';
const operations = serverOperations
  .filter(({ path, body = 'form' }) => path.startsWith(prefix) && body === 'form')
  .filter(({ parameters }) => Object.keys(parameters.shape).length > 0)
  .map((declared) => ({ name: `${declared.method} ${declared.path}`, declared }));

const texts = [
  ...['', 'x', 'é\u202e', 'a\0b', '"x"', 'null', 'true'],
  ...['-1', '1', '1.5', '9'.repeat(15), '9'.repeat(20)],
  ...['[]', '{}', '{', '["1"]', '[{}]', '{"new": {}}', '[['.repeat(5000)],
  ...['[999999999999999]', '{"new": 999999999999999}', '{"a\\u0000": {"text": "\\ud800", "order": ""}}'],
  '[{"id": 999999999999999, "value": "a\\u0000"}]',
  '{"new": {"direct_members": [999999999999999], "direct_subgroups": [999999999999999]}}',
];

/** What parameters take that must be there and take none of those: each has to find one. */
const words = ['fcm', 'add', 'start', 'active', 'direct', 'private', '[{"name": "x"}]'];

interface Try {
  readonly name: string;
  readonly text: string;
  /** Whether it is of the type that the parameter has. */
  readonly isRight: boolean;
}

/** What has its place in a path: no path ends with nothing, or is longer than a path may be. */
const isForPath = (text: string) => text !== '' && text.length < 100;

/** What is due, whoever asks, and what counts how often somebody is refused. */
const elsewhere = /^(?:jobs|leases|kysely|migrations|job_|sign_in_failures)/;

function isAccepted({ parameters }: AnyOperation, name: string, text: string): boolean {
  const shape = parameters.shape[name] as z.ZodType;
  try {
    if (text.includes('\0')) return false;
    // What some clients send for a parameter that they leave out.
    if (text === 'null' && shape.safeParse(undefined).success) return true;
    return shape.safeParse(text).success;
  } catch (error) {
    // Some shapes have a code of their own for it.
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

const neededBy = new Map<AnyOperation, Record<string, string>>();

/** Texts that are of the right type, for all parameters that must be there; found once for each operation. */
function needed(declared: AnyOperation): Record<string, string> {
  const found = neededBy.get(declared) ?? findNeeded(declared);
  neededBy.set(declared, found);
  return found;
}

function findNeeded(declared: AnyOperation): Record<string, string> {
  const names = Object.keys(declared.parameters.shape);
  const required = names.filter((name) => {
    const shape = declared.parameters.shape[name] as z.ZodType;
    return pathParameters(declared.path).includes(name) || !shape.safeParse(undefined).success;
  });
  return Object.fromEntries(
    required.map((name) => {
      const text = ['1', ...texts, ...words].find(
        (each) => isForPath(each) && isAccepted(declared, name, each),
      );
      if (text === undefined) throw new Error(`add a word that ${declared.path} takes for ${name}`);
      return [name, text];
    }),
  );
}

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let made = 0;
  let tables: string[] = [];
  /** An owner whom no text names, so that nobody deactivates it. */
  let keeper: Account;
  beforeAll(async () => {
    keeper = await owner();
    const { introspection } = organisation.server.server.database.db;
    tables = (await introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !elsewhere.test(name));
    expect(tables).toContain('users');
  });

  // New owners have a name that others have.
  afterEach(async () => {
    const put = await organisation.server.ask(keeper, 'PATCH', 'realm', { require_unique_names: 'false' });
    expect(put.status).toBe(200);
  });

  const owner = () => {
    made += 1;
    return organisation.server.addAccount(`owner${made}@example.com`, {
      role: roles.owner,
      // Names may have to be unique by then.
      fullName: `Owner ${made}`,
    });
  };

  function ask(who: Account, declared: AnyOperation, parameters: Record<string, string>): Promise<Answer> {
    const inPath = pathParameters(declared.path);
    const path = declared.path
      .slice(prefix.length)
      .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''));
    const fields = Object.entries(parameters).filter(([name]) => !inPath.includes(name));
    const method = declared.method as Parameters<ServerUnderTest['ask']>[1];
    return organisation.server.ask(who, method, path, Object.fromEntries(fields));
  }

  /** Every row of the organisation, once nothing is under way that somebody was told will be done. */
  async function everything(): Promise<Record<string, string[]>> {
    await organisation.server.settle();
    const { db } = organisation.server.server.database;
    const rows: Record<string, string[]> = {};
    for (const table of tables) {
      const all = await db
        .selectFrom(table as 'users')
        .selectAll()
        .execute();
      rows[table] = all.map((row) => JSON.stringify(row)).sort();
    }
    return rows;
  }

  function* triesOf(declared: AnyOperation): Generator<Try> {
    for (const name of Object.keys(declared.parameters.shape)) {
      const isInPath = pathParameters(declared.path).includes(name);
      for (const text of texts.filter((each) => !isInPath || isForPath(each))) {
        yield { name, text, isRight: isAccepted(declared, name, text) };
      }
    }
  }

  describe.each(operations)('$name', ({ declared }) => {
    // Before anything reads a row, so that no second database can show anything else.
    if (backend.name === 'sqlite')
      it('refuses each parameter that is of another type by its name, and changes nothing', async () => {
        const who = await owner();
        const before = await everything();
        for (const { name, text, isRight } of triesOf(declared)) {
          if (isRight) continue;
          const { status, body } = await ask(who, declared, { ...needed(declared), [name]: text });
          expect({ name, text, status, body }).toEqual({
            ...{ name, text, status: 400 },
            body: expect.objectContaining({
              ...{ result: 'error', code: expect.stringMatching(/^(BAD_REQUEST|REQUEST_VARIABLE_INVALID)$/) },
              msg: expect.stringMatching(new RegExp(`^(Invalid ${name}\\b|Bad value for '${name}')`)),
            }),
          });
        }
        expect(await everything()).toEqual(before);
      });

    it('does whatever else a parameter says, or refuses it in a sentence and changes nothing', async () => {
      const right = [...triesOf(declared)].filter(({ isRight }) => isRight);
      const refused: typeof right = [];
      let who = await owner();
      for (const each of right) {
        const answer = await askWith(who, declared, each);
        if (answer.status !== 200) refused.push(each);
        // Its key may be another by then.
        else if ((await organisation.server.ask(who, 'GET', 'users/me')).status !== 200) who = await owner();
      }
      let before = await everything();
      for (const each of refused) {
        const { status } = await askWith(who, declared, each);
        if (status === 200) before = await everything();
      }
      expect(await everything()).toEqual(before);
    });
  });

  async function askWith(who: Account, declared: AnyOperation, { name, text }: Try): Promise<Answer> {
    const answer = await ask(who, declared, { ...needed(declared), [name]: text });
    const { status, body } = answer;
    expect({ name, text, status, body }).toEqual({
      ...{ name, text, status: expect.toSatisfy((code: number) => code < 500) },
      body: expect.objectContaining({ msg: status === 200 ? '' : expect.stringMatching(/./) }),
    });
    return answer;
  }
});
