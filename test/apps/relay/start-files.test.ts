import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, expect, it } from 'vitest';
import { sqliteBackend } from '../../support/test-databases.js';
import { startRelayUnderTest } from './relay-under-test.js';

const folder = mkdtempSync(join(tmpdir(), 'waxwing-start-files-'));
const databases = sqliteBackend();
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

/** Starts a relay with app credentials and additional certificate authorities. */
async function runningRelay() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('key.p8', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const entry = { team_id: 'TEAM123456', key_id: 'KEY1234567', key_file: 'key.p8', topics: ['org.example'] };
  const relay = await startRelayUnderTest(await databases.freshUrl(), {
    RELAY_APPS_FILE: write('apps.json', JSON.stringify({ apns: [entry] })),
    RELAY_CA_FILE: write('ca.pem', rootCertificates[0] ?? ''),
  });
  return {
    relay,
    /** Returns the readiness and the metric after a minute. Queries the readiness twice. */
    async aMinuteLater() {
      relay.time.now += 60_000;
      const { checks } = (await relay.app.inject('/health/ready')).json<{ checks: { files: string } }>();
      await relay.app.inject('/health/ready');
      const text = await relay.context.metrics.text();
      const wrong = [...text.matchAll(/^waxwing_start_problem\{file="(.*)"\} 1$/gm)].map(([, file]) => file);
      return { files: checks.files, wrong };
    },
  };
}

/** Returns the level and message of each log line about the next start. */
const linesOf = (logged: string) =>
  logged
    .split('\n')
    .filter((line) => line.includes('"check":"files"'))
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .map(({ level, msg }) => ({ level, msg }));

it('a running relay warns once about files that would make its next start fail', async () => {
  const { relay, aMinuteLater } = await runningRelay();
  try {
    expect(await aMinuteLater()).toEqual({ files: 'ok', wrong: [] });
    renameSync(join(folder, 'key.p8'), join(folder, 'former.p8'));
    writeFileSync(join(folder, 'ca.pem'), '');
    expect(await aMinuteLater()).toEqual({ files: 'warning', wrong: ['apps', 'authorities'] });
    await aMinuteLater();
    const [line, ...more] = linesOf(relay.logged());
    expect(more).toEqual([]);
    expect(line?.level).toBe('warn');
    expect(line?.msg).toMatch(/^ready, but the next start would fail: .*key\.p8 .*there is no such file/);
    expect(line?.msg).toMatch(/RELAY_CA_FILE: .* use one that begins with -----BEGIN CERTIFICATE-----/);
    renameSync(join(folder, 'former.p8'), join(folder, 'key.p8'));
    write('ca.pem', rootCertificates[0] ?? '');
    expect(await aMinuteLater()).toEqual({ files: 'ok', wrong: [] });
    expect(linesOf(relay.logged())).toHaveLength(2);
  } finally {
    await relay.close();
  }
});

it('the metric waxwing_start_problem reports a missing identity file of the key ring', async () => {
  const { relay, aMinuteLater } = await runningRelay();
  try {
    const identity = relay.ring.environment.RELAY_KEY_RING_IDENTITY_FILE ?? '';
    renameSync(identity, `${identity}.former`);
    expect((await aMinuteLater()).wrong).toEqual(['key-ring']);
    renameSync(`${identity}.former`, identity);
    expect((await aMinuteLater()).wrong).toEqual([]);
  } finally {
    await relay.close();
  }
});

it('a running relay warns if its audit log becomes unwritable', async () => {
  const auditLog = join(folder, 'audit.jsonl');
  const relay = await startRelayUnderTest(await databases.freshUrl(), { RELAY_KEY_AUDIT_LOG: auditLog });
  const warnings = async () => {
    relay.time.now += 60_000;
    await relay.app.inject('/health/ready');
    return (await relay.context.metrics.text()).match(
      /^waxwing_start_problem\{file="audit-log"\} (.)$/m,
    )?.[1];
  };
  try {
    rmSync(auditLog, { force: true });
    expect(await warnings()).toBe('0');
    mkdirSync(auditLog);
    await relay.app.inject('/health/ready');
    expect(await warnings()).toBe('1');
    expect(linesOf(relay.logged())[0]?.msg).toContain(
      `The key ring cannot be changed, because its audit log ${auditLog} cannot be written: it is a folder`,
    );
    rmdirSync(auditLog);
  } finally {
    await relay.close();
  }
});
