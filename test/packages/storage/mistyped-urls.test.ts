import { openDatabaseWithJobs } from '@waxwing/jobs';
import { describeDatabaseUrlMistake, EnvironmentReader, hideSecrets } from '@waxwing/service/config';
import { migrationStatus } from '@waxwing/storage';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

const halves = fc.stringMatching(/^[a-z][A-Z][0-9]{2}[a-z]{2}$/);
const digits = fc.stringMatching(/^[1-9][0-9]{4}$/);
const separators = fc.constantFrom(...'/?#@:%,&=; [\\+', '%2', '%zz', '%2F', '@@', '//', '');
/** A password and its parts. No message may show any of the parts. */
const passwords = fc
  .tuple(fc.oneof(halves, digits), separators, fc.oneof(halves, digits))
  .map(([one, between, other]) => ({ password: `${one}${between}${other}`, parts: [one, other] }));

const urls: Record<string, (password: string) => string> = {
  'the URL itself': (p) => `postgres://user:${p}@127.0.0.1:1/birds`,
  'several hosts': (p) => `postgres://user:${p}@127.0.0.1:1,localhost:1/birds`,
  'no slashes': (p) => `postgres:user:${p}@127.0.0.1`,
  'one slash': (p) => `postgresql:/user:${p}@127.0.0.1`,
  'three slashes': (p) => `postgres:///user:${p}@127.0.0.1`,
  'another scheme': (p) => `pg://user:${p}@127.0.0.1`,
  'no scheme': (p) => `user:${p}@127.0.0.1/birds`,
  'two schemes': (p) => `sqlite:postgres://user:${p}@127.0.0.1/birds`,
  'a file scheme': (p) => `sqlite://user:${p}@127.0.0.1/birds`,
  'the password as a parameter': (p) => `postgres://user@127.0.0.1:1/birds?password=${p}`,
  'the password for a key': (p) => `postgres://user@127.0.0.1:1/birds?sslpassword=${p}`,
  'an ampersand before the first parameter': (p) => `postgres://user@127.0.0.1:1/birds&password=${p}`,
  'a space before the password': (p) => `postgres://user@127.0.0.1:1/birds password=${p}`,
  'a space after the TLS mode': (p) => `postgres://user@127.0.0.1:1/birds?sslmode=require password=${p}`,
  'a space after the session': (p) => `postgres://u@127.0.0.1:1/b?target_session_attrs=any password=${p}`,
  'a space after a file': (p) => `postgres://u@127.0.0.1:1/b?sslrootcert=/nowhere password=${p}`,
  'the libpq format': (p) => `host=127.0.0.1 port=1 user=user password=${p}`,
  'the libpq format after a scheme': (p) => `postgres://host=127.0.0.1 user=user password=${p}`,
  'the libpq format as a file': (p) => `sqlite:host=127.0.0.1 password=${p}`,
};

async function messagesOf(url: string): Promise<string> {
  const options = { url, migrations: [], role: 'visiting', now: Date.now } as const;
  const attempts = await Promise.allSettled([
    openDatabaseWithJobs({ ...options, onJobError: () => undefined }),
    openDatabaseWithJobs({ ...options, onJobError: () => undefined, remedyIfMissing: 'make one' }),
    migrationStatus(options),
  ]);
  return attempts.map((attempt) => (attempt.status === 'rejected' ? String(attempt.reason) : '')).join('\n');
}

describe('No message contains the password of a database URL', () => {
  it.each(Object.keys(urls))('for a URL with %s', async (kind) => {
    await fc.assert(
      fc.asyncProperty(passwords, async ({ password, parts }) => {
        const url = urls[kind]?.(password) ?? '';
        const said = await messagesOf(url);
        expect(said).toContain('The ');
        for (const part of parts) expect(said).not.toContain(part);
      }),
      { numRuns: 40 },
    );
  });
});

it.each([
  'sqlite:relay.sqlite',
  'sqlite:/var/lib/waxwing/a:b@c.sqlite',
  'postgres://me@h/birds',
  'postgres://me:a:b@h:5432/birds?sslmode=verify-full',
  'postgres://me:a@b@h1:5432,h2/birds?target_session_attrs=read-write',
  'postgresql:///birds?host=/run/postgresql&user=me@server',
  'postgres://%2Frun%2Fpostgresql/birds',
  'postgres://me:100%25@[::1]:5432/',
])('the database URL %s is accepted', (url) => {
  expect(describeDatabaseUrlMistake(url)).toBeUndefined();
});

it.each([
  'https://user:PASS@h',
  'http:user:PASS@h',
  'htp://user:PASS@h/x',
  'https://h/?password=PASS',
  'PASS',
])('the setting for a URL never shows the password in %s', (form) => {
  fc.assert(
    fc.property(passwords, ({ password, parts }) => {
      const given = form.replace('PASS', `${password}x7Q9mZ2kL5vB8nC1`);
      const reader = new EnvironmentReader({ T_URL: given }, 'T_');
      reader.optionalUrl('URL');
      const problems = (() => {
        try {
          return String(reader.finish());
        } catch (error) {
          return String(error);
        }
      })();
      if (form !== 'PASS' || /^[\w+/=-]+$/.test(given)) {
        for (const part of parts) expect(problems).not.toContain(part);
      }
    }),
  );
});

it('a secret value is hidden in a message wherever it occurs', () => {
  const given = ['--to=postgres://u:p@h', 'file:AGE-SECRET-KEY-1ABC', 'no-secret', '/etc/waxwing/relay.env'];
  const message = 'no-secret, AGE-SECRET-KEY-1ABC, postgres://u:p@h, /etc/waxwing/relay.env';
  expect(hideSecrets(message, given)).toBe(
    'no-secret, (not shown, because it may be a secret), (not shown, because it may be a secret), /etc/waxwing/relay.env',
  );
});
