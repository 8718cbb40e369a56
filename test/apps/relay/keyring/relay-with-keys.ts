import { type KeyListAnswer, keyListAnswer, keyListPath, verifyKeyList } from '@waxwing/protocol';
import { readRelayEnvironment, startRelay } from '@waxwing/relay';
import { addServer } from '#relay/servers/manage-servers.js';
import { createMemoryLog } from '../../../support/memory-log.js';
import { basic, realmUuid } from '../relay-under-test.js';
import { type KeyTerminal, keyTerminal, withDatabase } from './key-terminal.js';
import { sodium } from './ring-material.js';

/** Starts a relay as in production, with a terminal on the same machine and a registered server. */
export async function relayWithKeys(environment: Record<string, string> = {}) {
  const terminal = keyTerminal({ RELAY_PORT: '0', ...environment });
  const { signing_public_key: pinned } = await terminal.json('init');
  const server = await withDatabase(terminal, (database) =>
    addServer(database, { name: 'ours', realmUuids: [realmUuid] }, terminal.now),
  );
  const { relay, log } = await startRelayOf(terminal);
  const authorization = basic(server.serverId, server.serverKey.reveal());
  return { terminal, relay, log, pinned: pinned as string, authorization };
}

/** Starts or restarts a relay with the terminal's variables. */
export async function startRelayOf(terminal: KeyTerminal) {
  const log = createMemoryLog();
  const clock = () => terminal.now;
  const configuration = readRelayEnvironment({ ...terminal.environment, RELAY_METRICS_PORT: '0' });
  const relay = await startRelay(configuration, { log: log.log, clock, monotonic: clock });
  return { relay, log };
}

export type RelayWithKeys = Awaited<ReturnType<typeof relayWithKeys>>;

export async function fetchKeyList(url: string): Promise<KeyListAnswer> {
  const response = await fetch(url + keyListPath);
  return keyListAnswer.parse(await response.json());
}

/** Acts as a phone: fetches the list, verifies the list with the pinned key, and returns the primary key. */
export async function followedKey({ relay, pinned, terminal }: RelayWithKeys): Promise<string> {
  const verdict = verifyKeyList(await fetchKeyList(relay.url), {
    verify: (signature, message, publicKey) => sodium.verifyDetached(signature, message, publicKey),
    signingPublicKey: pinned,
    recoveryPublicKey: undefined,
    revokedKeys: new Set(),
    lastSequence: 0,
    nowSeconds: Math.floor(terminal.now / 1000),
  });
  if (verdict.kind === 'refused') throw new Error(`the key list was refused: ${verdict.reason}`);
  const primary = verdict.list.keys.find(({ state }) => state === 'primary');
  if (primary === undefined) throw new Error('the key list has no primary');
  return primary.public_key;
}

export interface Registered {
  readonly status: number;
  readonly body: { readonly code?: string; readonly device_id?: number };
}

/** Seals a registration to a key and sends it through the server. */
export async function registerWith(
  { relay, authorization, terminal }: RelayWithKeys,
  bouncerPublicKey: string,
  token: string,
): Promise<Registered> {
  const timestamp = Math.floor(terminal.now / 1000);
  const plaintext = JSON.stringify({ token_kind: 'fcm', token, timestamp });
  const box = sodium.seal(new TextEncoder().encode(plaintext), Buffer.from(bouncerPublicKey, 'base64'));
  const response = await fetch(`${relay.url}/api/v1/remotes/push/e2ee/register`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({
      realm_uuid: realmUuid,
      push_account_id: '7',
      encrypted_push_registration: Buffer.from(box).toString('base64'),
      bouncer_public_key: bouncerPublicKey,
    }),
  });
  return { status: response.status, body: (await response.json()) as Registered['body'] };
}

/** Returns the keys that `keys list` prints. */
export async function listedKeys(terminal: KeyTerminal) {
  const { keys } = await terminal.json('list');
  return keys as { id: string; public_key: string; state: string; registrations_per_day: number[] }[];
}
