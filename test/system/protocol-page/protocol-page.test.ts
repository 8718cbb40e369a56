import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createMemorySeenNotifications } from '@waxwing/client';
import {
  decodeBase64,
  decodeCiphertextBase64,
  decodePushKey,
  encodeBase64,
  errorCodes,
  formatPushAccountId,
  keyListSignedBytes,
  keyListSkewSeconds,
  livenessTimeoutSeconds,
  maximumCollapseIdBytes,
  maximumEncryptedPushRegistrationCharacters,
  maximumIosAppIdCharacters,
  maximumNotificationBytes,
  maximumPushDevicesPerUser,
  maximumPushEndpointCharacters,
  maximumReceiptIds,
  maximumRegistrationsAtOnce,
  maximumRemovedDevices,
  maximumTimeToLiveSeconds,
  maximumTokenCodePoints,
  notificationSizeBucketsBytes,
  notifyBodyLimitBytes,
  parseJson,
  parseKeyListAnswer,
  parseNotification,
  parsePushRegistration,
  registerBodyLimitBytes,
  registerManyBodyLimitBytes,
  registrationSizeBucketsBytes,
  relayNotifyRequest,
  signingKeyEndorsedBytes,
  vendorPayloadLimitBytes,
  verifyKeyList,
} from '@waxwing/protocol';
import { codesOf } from '@waxwing/service/http';
import { loadFastestSodium } from '@waxwing/sodium/native';
import { describe, expect, it } from 'vitest';
import { openNotification } from '#client/notifications/open-notification.js';
import { relayOperations } from '#relay/operations.js';
import {
  isBoundTo,
  openRegistration,
  requireFreshRegistration,
} from '#relay/registrations/opening/open-registration.js';
import { serverPushOperations } from '#server-push/operations.js';
import { defaultBodyLimitBytes } from '#service/http/operations/operation-route.js';
import { root, sourceFiles } from '../../architecture/source-files.js';
import { at, example, keys, pushAccountId, realm, userId } from './worked-example.js';

const page = readFileSync('docs/protocol.md', 'utf8');
const shown = new Map(
  [...page.matchAll(/^<!-- example: (.+) -->\n```\w*\n([\s\S]*?)\n```$/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);
const { sodium } = await loadFastestSodium();

function block(name: string): string {
  const text = shown.get(name);
  if (text === undefined) throw new Error(`the page has no example "${name}"`);
  return text;
}

/** A key from a block of the page, by name. Default: the first block. */
function key(name: string, from = block('keys')): Uint8Array {
  const [, text = ''] = new RegExp(`^${name}: (.+)$`, 'm').exec(from) ?? [];
  return decodeBase64(text) ?? new Uint8Array();
}

function boxKeys(name: string) {
  return { publicKey: key(`${name} public key`), privateKey: key(`${name} private key`) };
}

describe('the worked example of the protocol page', () => {
  it('has exactly the parts of the example in the code, byte for byte', () => {
    expect(Object.fromEntries(shown)).toEqual(example);
  });

  it('has a registration that a relay accepts only for its realm, account and time', () => {
    const sealed = decodeCiphertextBase64(block('encrypted_push_registration'));
    const registration = openRegistration(sodium, sealed, boxKeys('bouncer'));
    expect(registration).toEqual(parsePushRegistration(Buffer.from(block('registration'))));
    const now = at * 1000;
    const accepted = requireFreshRegistration(registration, now + livenessTimeoutSeconds * 1000);
    const here = { realmUuid: realm.uuid, addressee: formatPushAccountId(pushAccountId), now };
    expect(isBoundTo(accepted, here)).toBe(true);
    expect(isBoundTo(accepted, { ...here, realmUuid: '00000000-0000-4000-8000-000000000000' })).toBe(false);
    expect(isBoundTo(accepted, { ...here, now: now - (livenessTimeoutSeconds + 1) * 1000 })).toBe(false);
    expect(() => requireFreshRegistration(registration, now + (livenessTimeoutSeconds + 1) * 1000)).toThrow(
      'Request expired',
    );
  });

  it('pads both plaintexts with spaces to 512 bytes', () => {
    const opened = {
      registration: sodium.openSealed(
        decodeCiphertextBase64(block('encrypted_push_registration')) ?? new Uint8Array(),
        boxKeys('bouncer'),
      ),
      notification: sodium.openSealed(
        decodeCiphertextBase64(block('encrypted_data')) ?? new Uint8Array(),
        boxKeys('account'),
      ),
    };
    for (const [name, bytes] of Object.entries(opened)) {
      expect(Buffer.from(bytes ?? []).toString()).toBe(block(name).padEnd(512, ' '));
    }
  });

  it('has a key list that a client can verify from the first signing key on', () => {
    const answer = parseKeyListAnswer(parseJson(block('key list answer')));
    if (answer === undefined) throw new Error('the page has no key list answer');
    const document = Buffer.from(block('key list document'));
    expect(Buffer.from(answer.key_list, 'base64')).toEqual(document);
    const input = Buffer.concat([Buffer.from(block('start of the signature input'), 'hex'), document]);
    expect(Buffer.from(keyListSignedBytes(document))).toEqual(input);
    const signature = decodeBase64(answer.signature) ?? new Uint8Array();
    expect(sodium.verifyDetached(signature, input, key('second signing public key'))).toBe(true);
    const trust = {
      verify: sodium.verifyDetached,
      recoveryPublicKey: undefined,
      revokedKeys: new Set<string>(),
      lastSequence: 0,
      nowSeconds: at,
    };
    const verdictFrom = (signingPublicKey: Uint8Array) =>
      verifyKeyList(answer, { ...trust, signingPublicKey: encodeBase64(signingPublicKey) });
    expect(verdictFrom(key('first signing public key'))).toMatchObject({ kind: 'verified' });
    expect(verdictFrom(key('second signing public key'))).toMatchObject({ kind: 'verified' });
    expect(verdictFrom(key('recovery public key'))).toEqual({
      kind: 'refused',
      reason: 'unknown-signing-key',
    });
  });

  it('has endorsements by the previous key and by the recovery key', () => {
    const [, second] = JSON.parse(block('key list document')).signing_keys;
    const input = Buffer.from(block('endorsement input'), 'hex');
    expect(Buffer.from(signingKeyEndorsedBytes(key('second signing public key')))).toEqual(input);
    const endorsement = decodeBase64(second.endorsement) ?? new Uint8Array();
    expect(sodium.verifyDetached(endorsement, input, key('first signing public key'))).toBe(true);
    const recovered = block('endorsement by the recovery key');
    const third = signingKeyEndorsedBytes(key('third signing public key', recovered));
    expect(sodium.verifyDetached(key('endorsement', recovered), third, key('recovery public key'))).toBe(
      true,
    );
  });

  it('has a relay request whose notification the phone can open', async () => {
    const request = relayNotifyRequest.parse(parseJson(block('notify body')));
    const data = JSON.parse(block('FCM data'));
    expect(request.push_requests[0]?.payload).toEqual({ ...data, push_account_id: pushAccountId });
    const account = { pushAccountId, realmUrl: realm.url, userId, keyPair: boxKeys('account') };
    const accounts = {
      get: async (id: bigint) => (id === pushAccountId ? account : undefined),
      list: async () => [account],
      put: async () => undefined,
      remove: async () => undefined,
    };
    const opened = await openNotification({ sodium, accounts, seen: createMemorySeenNotifications() }, data);
    expect(opened).toMatchObject({
      kind: 'notification',
      notification: parseNotification(Buffer.from(block('notification'))),
    });
  });

  it('has a secret box with the same notification after the nonce', () => {
    const pushKey = decodePushKey(/^push_key: (.+)$/m.exec(block('push key'))?.[1] ?? '');
    const bytes = decodeCiphertextBase64(block('secret box')) ?? new Uint8Array();
    expect(encodeBase64(bytes.subarray(0, 24))).toBe(/^nonce: (.+)$/m.exec(block('push key'))?.[1]);
    const opened = sodium.openSecretBox(bytes.subarray(24), bytes.subarray(0, 24), pushKey ?? bytes);
    expect(Buffer.from(opened ?? []).toString()).toBe(block('notification').padEnd(512, ' '));
  });

  it('explains how its secrets are derived', () => {
    expect(key('bouncer private key')).toEqual(keys.bouncer.privateKey);
    expect(sodium.publicKeyOf(key('account private key'))).toEqual(key('account public key'));
    expect(page).toContain('the SHA-256 of `waxwing protocol example: ` and a name');
  });
});

describe('the tables of the protocol page', () => {
  it('list every error code of the push operations, with the catalog’s order and status', () => {
    const answered = new Set([...relayOperations, ...serverPushOperations].flatMap((each) => codesOf(each)));
    // No operation declares this code: the service returns it for a path, before it chooses an operation.
    answered.add('METHOD_NOT_ALLOWED');
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| [^|]+ \|$/gm)];
    expect(rows.map(([, code, status]) => [code, Number(status)])).toEqual(
      Object.entries(errorCodes).flatMap(([code, { httpStatus }]) =>
        answered.has(code as keyof typeof errorCodes) ? [[code, httpStatus]] : [],
      ),
    );
  });

  it('state the same limits as the code', () => {
    const [, table = ''] = /^## Limits\n([\s\S]*?)^## /m.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (.+) \| (\d+)(?: \w+(?: \w+)?)? \|$/gm)];
    expect(Object.fromEntries(rows.map(([, name, value]) => [name, Number(value)]))).toEqual({
      'age of a registration, and how far it may be ahead': livenessTimeoutSeconds,
      '`token`': maximumTokenCodePoints,
      '`endpoint` of a Web Push token': maximumPushEndpointCharacters,
      '`ios_app_id`': maximumIosAppIdCharacters,
      '`encrypted_push_registration`': maximumEncryptedPushRegistrationCharacters,
      'registrations in one `register_many`': maximumRegistrationsAtOnce,
      'devices in one `remove`': maximumRemovedDevices,
      'ids in one request for receipts': maximumReceiptIds,
      'registered phones of one user': maximumPushDevicesPerUser,
      'body of `register`, at the relay and at the server': registerBodyLimitBytes,
      'body of `register_many`': registerManyBodyLimitBytes,
      'body of `notify`': notifyBodyLimitBytes,
      'any other body': defaultBodyLimitBytes,
      'JSON of a notification': maximumNotificationBytes,
      'APNs body, and FCM data': vendorPayloadLimitBytes,
      '`ttl_seconds`': maximumTimeToLiveSeconds,
      '`collapse_id`': maximumCollapseIdBytes,
      'how far `issued_at` and `sequence` of a key list may be ahead': keyListSkewSeconds,
    });
  });

  it('state the sizes to which plaintexts are padded', () => {
    const list = (sizes: readonly number[]) => `${sizes.slice(0, -1).join(', ')} or ${sizes.at(-1)} bytes`;
    expect(page).toContain(list(registrationSizeBucketsBytes));
    expect(page).toContain(list(notificationSizeBucketsBytes));
  });

  it('are under the headings that comments cite', () => {
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    const cited = ['packages', 'apps', 'test']
      .flatMap((folder) => sourceFiles(join(root, folder)))
      .filter((file) => !/\/(?:node_modules|dist)\//.test(file))
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/docs\/protocol\.md#([\w-]+)/g)])
      .map(([, anchor = '']) => anchor);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter((anchor) => !headings.includes(anchor))).toEqual([]);
  });

  it('list the path of every push operation', () => {
    const paths = [...relayOperations, ...serverPushOperations].map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(paths.filter((path) => !page.includes(path))).toEqual([]);
  });
});
