import { hash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { seal } from '../../../support/noble-oracle.js';
import { type DeliveriesUnderTest, realmUuid } from '../deliveries/deliveries-under-test.js';

/**
 * A server of the newer generation, written from docs/protocol.md without this project's code. Sends HTTP requests with
 * registrations sealed by another implementation of libsodium.
 */

export interface HttpAnswer {
  readonly status: number;
  /** Headers with lowercase names. */
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export type StockServer = Awaited<ReturnType<typeof connectStockServer>>;

/** A token's id: base64 of the first 8 bytes of its SHA-256. */
function tokenIdOf(token: string): string {
  return hash('sha256', token, 'buffer').subarray(0, 8).toString('base64');
}

/** Makes `relay` listen, and returns a server that is registered with the relay. */
export async function connectStockServer(
  relay: DeliveriesUnderTest,
  authorization: string = relay.authorization,
) {
  await relay.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = relay.app.server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}/api/v1/remotes/push/e2ee`;
  const list = (await (await fetch(`${base}/keys`)).json()) as { key_list: string };
  const { keys } = JSON.parse(Buffer.from(list.key_list, 'base64').toString('utf8'));
  const bouncerPublicKey = keys.find(({ state }: { state: string }) => state === 'primary')
    .public_key as string;

  async function post(path: string, headers: Record<string, string>, body: string): Promise<HttpAnswer> {
    const answer = await fetch(`${base}/${path}`, { method: 'POST', headers, body });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
  }
  const authenticated = (type: string) => ({ authorization, 'content-type': type });
  const sealText = (plaintext: string): string => {
    const publicKey = Buffer.from(bouncerPublicKey, 'base64');
    return Buffer.from(seal(Buffer.from(plaintext, 'utf8'), publicKey, randomBytes(32))).toString('base64');
  };

  return {
    bouncerPublicKey,
    sealText,

    /** Returns the form for a registration that a stock phone sealed. */
    form(token: string, fields: object = {}, changes: Record<string, string> = {}): Record<string, string> {
      const timestamp = Math.floor(Date.now() / 1000);
      return {
        realm_uuid: realmUuid,
        token_id: tokenIdOf(token),
        encrypted_push_registration: sealText(
          JSON.stringify({ token_kind: 'fcm', token, timestamp, ...fields }),
        ),
        bouncer_public_key: bouncerPublicKey,
        ...changes,
      };
    },

    register(
      form: Record<string, string>,
      headers: Record<string, string> = authenticated('application/x-www-form-urlencoded'),
    ): Promise<HttpAnswer> {
      return post('register', headers, new URLSearchParams(form).toString());
    },

    /** Sends a string body unchanged, and other bodies as JSON. */
    notify(
      requests: readonly object[] | string,
      realm = realmUuid,
      headers: Record<string, string> = authenticated('application/json'),
    ): Promise<HttpAnswer> {
      const list = typeof requests === 'string' ? requests : JSON.stringify(requests);
      return post('notify', headers, `{"realm_uuid":${JSON.stringify(realm)},"push_requests":${list}}`);
    },
  };
}

const encryptedData = Buffer.alloc(380, 3).toString('base64');

/** An FCM element of a notify request. */
export function fcmElement(tokenId: string, changes: object = {}): object {
  return {
    token_id: tokenId,
    fcm_priority: 'high',
    payload: { push_key_id: 20, encrypted_data: encryptedData },
    ...changes,
  };
}

/** An APNs element of a notify request, with the `aps` field that a stock server sends for a message. */
export function apnsElement(
  tokenId: string,
  changes: object = {},
  aps: object = { 'mutable-content': 1, alert: { title: 'New notification' }, sound: 'default' },
): object {
  return {
    token_id: tokenId,
    http_headers: { apns_priority: 10, apns_push_type: 'alert' },
    payload: { push_key_id: 10, encrypted_data: encryptedData, aps },
    ...changes,
  };
}
