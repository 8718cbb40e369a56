import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readServiceAccount } from '#relay/deliveries/apps/read-credentials.js';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-service-accounts-'));
afterAll(() => rmSync(dir, { recursive: true }));

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const account = JSON.stringify(
  {
    type: 'service_account',
    project_id: 'our-app',
    private_key_id: 'id',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'sender@our-app.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  },
  null,
  2,
);

let files = 0;

function read(content: string) {
  files += 1;
  const file = join(dir, `account-${files}`);
  writeFileSync(file, content, { mode: 0o600 });
  return readServiceAccount(file);
}

describe('a service account whose key has raw line breaks, as echo or a template writes for \\n', () => {
  it.each(['\n', '\r\n', '\r'])('is accepted with %j', async (lineBreak) => {
    const plain = await read(account);
    const broken = account.replaceAll('\\n', lineBreak);
    expect(() => JSON.parse(broken)).toThrow();
    expect(await read(broken)).toMatchObject({ fingerprint: plain.fingerprint });
  });
});

describe('a service account that is not JSON', () => {
  const lines = account.split('\n');
  const lineOf = async (broken: readonly string[]) =>
    read(broken.join('\n')).then(
      () => 'taken',
      (error: Error) => Number(/is not JSON from line (\d+) on/.exec(error.message)?.[1]),
    );

  it.each(lines.slice(0, -1).map((_, index) => index + 1))(
    'is rejected with the number of the wrong line: %i',
    async (line) => {
      const change = (edit: (text: string) => string) =>
        lines.map((text, index) => (index === line - 1 ? edit(text) : text));
      // The mistakes: a missing or extra comma, a missing quote, a wrong quote, and a comment.
      const last = lines.length - 1;
      if (line > 1) {
        expect(await lineOf(change((text) => (line === last ? `${text},` : text.replace(/,$/, ''))))).toBe(
          line,
        );
        expect(await lineOf(change((text) => text.replace(/"(,?)$/, '$1')))).toBe(line);
        expect(await lineOf(change((text) => text.replace('"', "'")))).toBe(line);
      }
      expect(await lineOf(change((text) => `// mine\n${text}`))).toBe(line);
    },
  );
});
