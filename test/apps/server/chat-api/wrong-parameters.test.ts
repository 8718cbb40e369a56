import { ProtocolError } from '@waxwing/protocol';
import { roles, serverOperations } from '@waxwing/server';
import { type AnyOperation, pathParameters } from '@waxwing/service/http';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import type { Account, Answer, ServerUnderTest } from '../server-under-test.js';

// Covers every declared operation automatically.

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

/** Values for required parameters that accept none of the texts above. Each such parameter must accept one of these. */
const words = ['fcm', 'add', 'start', 'active', 'direct', 'private', '[{"name": "x"}]'];

interface Try {
  readonly name: string;
  readonly text: string;
  /** Whether the text has the parameter's type. */
  readonly isRight: boolean;
}

/** Whether a text can be a path segment: not empty, and not too long. */
const isForPath = (text: string) => text !== '' && text.length < 100;

/** Tables that change regardless of the request: jobs, leases and counters of failed sign-ins. */
const elsewhere = /^(?:jobs|leases|kysely|migrations|job_|sign_in_failures)/;

function isAccepted({ parameters }: AnyOperation, name: string, text: string): boolean {
  const shape = parameters.shape[name] as z.ZodType;
  try {
    if (text.includes('\0')) return false;
    // Some clients send this for an omitted parameter.
    if (text === 'null' && shape.safeParse(undefined).success) return true;
    return shape.safeParse(text).success;
  } catch (error) {
    // Counts as wrong: some shapes throw their own error code.
    if (error instanceof ProtocolError) return false;
    throw error;
  }
}

const neededBy = new Map<AnyOperation, Record<string, string>>();

/** Texts of the right type for all required parameters. Cached per operation. */
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
      if (text === undefined) throw new Error(`add a word that ${declared.path} accepts for ${name}`);
      return [name, text];
    }),
  );
}

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let made = 0;
  let tables: string[] = [];
  /** An owner that no text identifies, so that no request deactivates this user. */
  let keeper: Account;
  beforeAll(async () => {
    keeper = await owner();
    const { introspection } = organisation.server.server.database.db;
    tables = (await introspection.getTables())
      .map(({ name }) => name)
      .filter((name) => !elsewhere.test(name));
    expect(tables).toContain('users');
  });

  // Allows duplicate names again, because the test adds owners whose names may be taken.
  afterEach(async () => {
    const put = await organisation.server.ask(keeper, 'PATCH', 'realm', { require_unique_names: 'false' });
    expect(put.status).toBe(200);
  });

  const owner = () => {
    made += 1;
    return organisation.server.addAccount(`owner${made}@example.com`, {
      role: roles.owner,
      // A new name each time, because a request may have made unique names required.
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

  /** All rows of the organization, once all background work is done. */
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
    // Parameters are parsed before any row is read, so a second database cannot differ.
    if (backend.name === 'sqlite')
      it('refuses each parameter of the wrong type by name, and changes nothing', async () => {
        const who = await owner();
        const before = await everything();
        for (const { name, text, isRight } of triesOf(declared)) {
          if (isRight) continue;
          const { status, body } = await ask(who, declared, { ...needed(declared), [name]: text });
          expect({ name, text, status, body }).toEqual({
            name,
            text,
            status: 400,
            body: expect.objectContaining({
              result: 'error',
              code: expect.stringMatching(/^(BAD_REQUEST|REQUEST_VARIABLE_INVALID)$/),
              msg: expect.stringMatching(new RegExp(`^(Invalid ${name}\\b|Bad value for '${name}')`)),
            }),
          });
        }
        expect(await everything()).toEqual(before);
      });

    it('applies each parameter of the right type, or refuses it with a message and changes nothing', async () => {
      const right = [...triesOf(declared)].filter(({ isRight }) => isRight);
      const refused: typeof right = [];
      let who = await owner();
      const isLockedOut = async () => (await organisation.server.ask(who, 'GET', 'users/me')).status !== 200;
      for (const each of right) {
        let { status } = await askWith(who, declared, each);
        // A new owner continues if the previous request has replaced the API key.
        if (status !== 200 && (await isLockedOut())) {
          who = await owner();
          ({ status } = await askWith(who, declared, each));
        }
        if (status !== 200) refused.push(each);
      }
      if (await isLockedOut()) who = await owner();
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
      name,
      text,
      status: expect.toSatisfy((code: number) => code < 500),
      body: expect.objectContaining({ msg: status === 200 ? '' : expect.stringMatching(/./) }),
    });
    return answer;
  }
});
