/// <reference path="../../packages/sodium/src/sodium-native.d.ts" />
import { createHash, timingSafeEqual } from 'node:crypto';
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'node:querystring';
import { DatabaseSync } from '@photostructure/sqlite';
import { type FastifyRequest, fastify } from 'fastify';
import sodium from 'sodium-native';
import type { PrototypeTarget } from './relay-whole.js';

/**
 * Prototype for comparison with the relay in `relay-whole`. It does the minimum to register a phone durably, with the
 * token encrypted at rest and a log line. It makes no optional checks, and has one server, one key and no rotation.
 */

interface Waiting {
  readonly form: Record<string, string>;
  resolve(deviceId: number): void;
  reject(error: unknown): void;
}

const logCharacters = 8192;
const sealedOverheadBytes = 48;
const nonceBytes = 24;
const aeadOverheadBytes = 16;

const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
const logFile = openSync(join(folder, 'prototype.log'), 'a');
const database = new DatabaseSync(join(folder, 'prototype.sqlite'));
database.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table devices (
    id integer primary key, realm_uuid text not null, push_account_id text not null, token_lookup text not null,
    token text not null, token_kind text not null, registered_at integer not null,
    unique (realm_uuid, push_account_id, token_lookup)
  ) strict`);
const insert = database.prepare(`
  insert into devices (realm_uuid, push_account_id, token_lookup, token, token_kind, registered_at)
  values (?, ?, ?, ?, ?, ?)
  on conflict do update set token = excluded.token, registered_at = excluded.registered_at
  returning id`);
const [publicKey, privateKey] = [new Uint8Array(32), new Uint8Array(32)];
sodium.crypto_box_keypair(publicKey, privateKey);
const [encryptionKey, lookupKey] = [randomBytes(32), randomBytes(32)];
const [serverId, serverKey] = ['00000000-0000-4000-8000-000000000001', randomBytes(32).toString('base64url')];
const serverKeyHash = sha256(serverKey);
let waiting: Waiting[] = [];
let logLines = '';

const app = fastify();
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, parse(body as string)),
);
app.post('/api/v1/remotes/push/e2ee/register', async (request, reply) => {
  const start = performance.now();
  if (!isAuthenticated(request))
    return reply.status(401).send({ result: 'error', msg: 'Invalid credentials' });
  const form = request.body as Record<string, string>;
  const deviceId = await new Promise<number>((resolve, reject) => {
    waiting.push({ form, resolve, reject });
    if (waiting.length === 1) setImmediate(registerWaiting);
  });
  logLine({ method: 'POST', url: request.url, status: 200, milliseconds: performance.now() - start });
  return { result: 'success', msg: '', device_id: deviceId };
});
await app.listen({ host: '127.0.0.1', port: 0 });
const target: PrototypeTarget = {
  port: (app.server.address() as AddressInfo).port,
  authorization: `Basic ${Buffer.from(`${serverId}:${serverKey}`).toString('base64')}`,
  realmUuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  bouncerPublicKey: Buffer.from(publicKey).toString('base64'),
};
process.send?.(target);
process.once('SIGTERM', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});

function isAuthenticated({ headers: { authorization = '' } }: FastifyRequest): boolean {
  const [name, key = ''] = Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':');
  return name === serverId && timingSafeEqual(sha256(key), serverKeyHash);
}

/** Registers all phones of one event-loop tick: opens the registrations one by one and stores them in one commit. */
function registerWaiting(): void {
  const batch = waiting;
  waiting = [];
  try {
    const rows = batch.map(({ form }) => rowOf(form));
    database.exec('begin immediate');
    const ids = rows.map((row) => (insert.get(...row) as { id: number }).id);
    database.exec('commit');
    for (const [index, { resolve }] of batch.entries()) resolve(ids[index] as number);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

function rowOf({
  encrypted_push_registration: text = '',
  realm_uuid = '',
  push_account_id = '',
}: Waiting['form']) {
  const sealed = Buffer.from(text, 'base64');
  const plaintext = Buffer.alloc(sealed.length - sealedOverheadBytes);
  if (!sodium.crypto_box_seal_open(plaintext, sealed, publicKey, privateKey)) throw new Error('not opened');
  const registration = JSON.parse(plaintext.toString()) as { token: string; token_kind: string };
  const token = Buffer.from(registration.token);
  const lookup = Buffer.alloc(32);
  sodium.crypto_generichash(lookup, token, lookupKey);
  const nonce = randomBytes(nonceBytes);
  const encrypted = Buffer.alloc(token.length + aeadOverheadBytes);
  const place = Buffer.from(`${realm_uuid} ${push_account_id}`);
  sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(encrypted, token, place, null, nonce, encryptionKey);
  const atRest = Buffer.concat([nonce, encrypted]).toString('base64');
  return [
    realm_uuid,
    push_account_id,
    lookup.toString('base64'),
    atRest,
    registration.token_kind,
    Date.now(),
  ];
}

function logLine(facts: object): void {
  logLines += `${JSON.stringify(Object.assign({ level: 30, time: Date.now() }, facts))}\n`;
  if (logLines.length < logCharacters) return;
  writeSync(logFile, logLines);
  logLines = '';
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function randomBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  sodium.randombytes_buf(bytes);
  return bytes;
}
