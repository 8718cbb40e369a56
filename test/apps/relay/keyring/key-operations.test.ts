import { readFileSync, writeFileSync } from 'node:fs';
import { relayAdminOperations } from '@waxwing/relay';
import { createHttpApp } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bindRelayAdminOperations } from '#relay/operations.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { keyAdminOnDisk } from '../admin-socket/admin-socket-under-test.js';
import { privateTexts } from './ring-material.js';

type Disk = Awaited<ReturnType<typeof keyAdminOnDisk>>;

let disk: Disk;
let app: Awaited<ReturnType<typeof createHttpApp>>;
let logged: () => string;
beforeEach(async () => {
  disk = await keyAdminOnDisk();
  const { log, text } = createMemoryLog();
  logged = text;
  const operations = bindRelayAdminOperations(disk.admin);
  app = await createHttpApp({ log, metrics: new Metrics(), operations, readiness: {} });
});
afterEach(() => app.close());

/** Sends a request as an operator. Undeclared parameters are ignored. */
async function ask(method: 'GET' | 'POST', url: string, form: Record<string, string> = {}) {
  const answer = await app.inject({
    method,
    url,
    headers: { 'waxwing-operator': 'Ada', 'content-type': 'application/x-www-form-urlencoded' },
    ...(method === 'POST' && { payload: new URLSearchParams(form).toString() }),
  });
  return { status: answer.statusCode, text: answer.body, ...answer.json() };
}

/** Valid parameters for all operations. */
const everything = {
  recovery_public_key: Buffer.alloc(32, 'r').toString('base64'),
  key: 'nothing',
  app: 'nothing',
  today: '2026-03-01',
  file: '{}',
  recovery_private_key: 'AAAA',
  dry_run: 'true',
};

describe('the operations on the key ring', () => {
  it.each(relayAdminOperations.map(({ method, path }) => [method as 'GET' | 'POST', path] as const))(
    '%s %s explains in one sentence what is wrong with the ring, and logs no error',
    async (method, path) => {
      writeFileSync(disk.path, 'rubbish');
      const refused = await ask(method, path, everything);
      expect(refused).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
      expect(refused.msg).toMatch(path.endsWith('import') ? /The file/ : /restore the ring from a backup/);
      expect(logged()).not.toContain('"level":"error"');
    },
  );

  it('return and log no private half of any key', async () => {
    const secrets = privateTexts((await disk.keeper.read()).ring);
    const answers: string[] = [];
    for (const [method, path] of [
      ['GET', '/admin/api/keys'],
      ['GET', '/admin/api/keys/public'],
      ['GET', '/admin/api/keys/verify'],
      ['POST', '/admin/api/keys/rotate'],
      ['POST', '/admin/api/keys/rotate-token-key'],
      ['POST', '/admin/api/keys/rotate-signing-key'],
    ] as const) {
      const answer = await ask(method, path);
      expect([path, answer.status]).toEqual([path, 200]);
      answers.push(answer.text);
    }
    secrets.push(...privateTexts((await disk.keeper.read()).ring));
    expect(secrets.length).toBeGreaterThan(0);
    const written = answers.join('\n') + logged();
    for (const secret of secrets) expect(written.includes(secret)).toBe(false);
  });

  it('quote secret input neither in a refusal nor in the log', async () => {
    const privateKey = Buffer.alloc(32, 'p').toString('base64');
    const file = JSON.stringify({ [Buffer.alloc(32, 'q').toString('base64')]: privateKey });
    const imported = await ask('POST', '/admin/api/keys/import', { file });
    const recovered = await ask('POST', '/admin/api/keys/rotate-signing-key', {
      recovery_private_key: privateKey,
    });
    expect([imported.code, recovered.code]).toEqual(['BAD_REQUEST', 'BAD_REQUEST']);
    expect(imported.text + recovered.text + logged()).not.toContain(privateKey);
  });

  it('change nothing in a dry run; otherwise the key ring’s audit log names the operator', async () => {
    const { stored } = await disk.keeper.read();
    const preview = await ask('POST', '/admin/api/keys/rotate', { dry_run: 'true' });
    expect(preview).toMatchObject({ changed: false, dry_run: true });
    expect(preview.changes).toHaveLength(2);
    expect((await disk.keeper.read()).stored).toBe(stored);
    expect(await ask('POST', '/admin/api/keys/rotate')).toMatchObject({ changed: true, dry_run: false });
    const audit = readFileSync(disk.auditPath, 'utf8');
    expect(audit).toContain('"actor":"Ada","action":"rotate"');
    expect(logged()).not.toContain('Ada');
  });

  it('return the same error messages as the commands', async () => {
    const { ring } = await disk.keeper.read();
    const [key] = ring.bouncerKeys;
    expect(await ask('POST', '/admin/api/keys/retire', { key: key?.id ?? '' })).toMatchObject({
      status: 400,
      code: 'BAD_REQUEST',
      msg: `Key ${key?.id} is the primary key: rotate first, then retire it.`,
    });
    expect(await ask('POST', '/admin/api/keys/revoke', { key: 'no such key' })).toMatchObject({
      code: 'BAD_REQUEST',
      msg: 'The key ring has no key "no such key": use the id or the public key of one of its keys.',
    });
    expect(await ask('POST', '/admin/api/keys/retire')).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING' });
    const addRecoveryKey = (text: string) =>
      ask('POST', '/admin/api/keys/add-recovery-key', { recovery_public_key: text });
    expect(await addRecoveryKey('short')).toMatchObject({
      code: 'BAD_REQUEST',
      msg: expect.stringContaining('must be base64 of 32 bytes'),
    });
    expect(await addRecoveryKey(Buffer.alloc(32, 'r').toString('base64'))).toMatchObject({ changed: true });
    expect(await addRecoveryKey(Buffer.alloc(32, 's').toString('base64'))).toMatchObject({
      code: 'BAD_REQUEST',
      msg: expect.stringContaining('already has a recovery key'),
    });
  });
});
