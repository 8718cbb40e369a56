import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { bindingOfToken } from '#relay/registrations/store/token-vault.js';
import { accountIdText, realmId } from '../../../support/ids.js';
import { registrationVectors, relayProtocolVectors } from '../../../support/protocol-vectors.js';
import { eachBackend } from '../../../support/test-databases.js';
import { goodForm, startRelayUnderTest } from '../relay-under-test.js';

eachBackend((backend) => {
  it('the relay stores no token in plaintext in its tables, database files or log', async () => {
    const url = await backend.freshUrl();
    const relay = await startRelayUnderTest(url);
    const { tokens, plaintexts } = await registerAll(relay.register, relay.time);
    const tables = JSON.stringify(await relay.rows());
    expect(await relay.devices()).toHaveLength(tokens.length);
    const logged = relay.logged();
    const filesWhileOpen = databaseFiles(url);
    await relay.close();
    const places = { tables, logged, filesWhileOpen, filesAfter: databaseFiles(url) };
    for (const [place, content] of Object.entries(places)) {
      expect(content).not.toBe('');
      for (const secret of [...tokens, ...plaintexts, relay.server.serverKey.reveal()]) {
        for (const written of encodingsOf(secret)) {
          expect(content.includes(written), `${place} holds ${written}`).toBe(false);
        }
      }
    }
  });

  it('a token that was copied into another row cannot be decrypted', async () => {
    const relay = await startRelayUnderTest(await backend.freshUrl());
    await relay.register(goodForm());
    const [row] = await relay.devices();
    if (row === undefined) throw new Error('nothing was registered');
    for (const change of [
      { realm_id: realmId(2) },
      { push_account_id: accountIdText(9) },
      { token_lookup: 'another' },
    ]) {
      const opened = relay.context.tokenVault.open(row.token, bindingOfToken({ ...row, ...change }));
      expect(opened, JSON.stringify(change)).toEqual({ reason: 'UNREADABLE_TOKEN' });
    }
    await relay.close();
  });

  it('a token that was modified in the database cannot be decrypted', async () => {
    const relay = await startRelayUnderTest(await backend.freshUrl());
    await relay.register(goodForm());
    const [row] = await relay.devices();
    if (row === undefined) throw new Error('nothing was registered');
    const { tokenVault } = relay.context;
    const sealed = row.token;
    expect(tokenVault.open(sealed, bindingOfToken(row))).toBe('fcm-token-1:APA91bExample_-');
    const changed = sealed.slice(0, 20) + (sealed[20] === 'A' ? 'B' : 'A') + sealed.slice(21);
    expect(tokenVault.open(changed, bindingOfToken(row))).toEqual({ reason: 'UNREADABLE_TOKEN' });
    await relay.close();
  });
});

type Register = Awaited<ReturnType<typeof startRelayUnderTest>>['register'];

/**
 * Registers all vector tokens that are too long to occur by chance. Returns the strings that must not be found.
 */
async function registerAll(register: Register, time: { now: number }) {
  const protocol = relayProtocolVectors();
  const { vectors } = registrationVectors();
  const tokens: string[] = [];
  const plaintexts: string[] = [];
  time.now = 1_773_200_000_000;
  for (const { token, plaintext, sealed } of protocol.registrations) {
    tokens.push(token);
    plaintexts.push(plaintext);
    const account = { push_account_id: String(tokens.length) };
    const key = { bouncer_public_key: protocol.bouncer_public_key };
    const { status } = await register(goodForm({ ...account, ...key, encrypted_push_registration: sealed }));
    expect(status).toBe(200);
  }
  time.now = registrationVectors().now * 1000;
  for (const vector of vectors) {
    if (!('ok' in vector.expect) || vector.expect.ok.token.length < 8) continue;
    tokens.push(vector.expect.ok.token);
    const { bouncer_public_key, encrypted_push_registration } = vector;
    const account = { push_account_id: String(tokens.length) };
    await register(goodForm({ ...account, bouncer_public_key, encrypted_push_registration }));
  }
  expect(plaintexts.length).toBeGreaterThan(0);
  expect(tokens.length).toBeGreaterThan(plaintexts.length);
  return { tokens, plaintexts };
}

/**
 * Minimum length of a string to search for. In one of a thousand runs, shorter strings occur by chance in random bytes.
 */
const tellingLength = 8;

/**
 * Returns a string with its hexadecimal and base64 encodings, at each of the three base64 offsets in a longer string.
 */
function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(offset === 0 ? 0 : 4, -4),
  );
  const hex = bytes.toString('hex');
  const all = [text, bytes.toString('latin1'), hex, hex.toUpperCase(), ...base64];
  return all.filter((written) => written.length >= tellingLength);
}

/**
 * Returns the bytes of all database files as Latin-1, with the write-ahead log; for a database server, a placeholder.
 */
function databaseFiles(url: string): string {
  if (!url.startsWith('sqlite:')) return 'on another machine';
  const folder = dirname(url.slice('sqlite:'.length));
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}
