import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkKeyRing } from '#relay/keyring/ring/check-key-ring.js';
import { describeChanges } from '#relay/keyring/ring/key-ring-changes.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { newVapidKey, signingKeyOf } from '#relay/keyring/ring/vapid-key.js';
import { wipeKeyRing } from '#relay/keyring/ring/wipe-key-ring.js';
import { decodeKeyRing, encodeKeyRing } from '#relay/keyring/storage/key-ring-document.js';
import { addVapidKeys, VapidKeys } from '#relay/keyring/vapid/vapid-keys.js';
import { privateTexts, ringOnDisk, sodium, startedAt } from './ring-material.js';

const fresh = () => newKeyRing(sodium, startedAt);
const withKeys = (...names: string[]) => addVapidKeys(fresh(), names, startedAt);

describe('a VAPID key pair', () => {
  it('has a public half of 65 bytes that belongs to its private half of 32 bytes', () => {
    for (let count = 0; count < 300; count += 1) {
      const key = newVapidKey('web', startedAt);
      expect(Buffer.from(key.publicKey, 'base64url').length).toBe(65);
      expect(key.privateKey.reveal().length).toBe(32);
      const publicKey = createPublicKey(signingKeyOf(key)).export({ format: 'jwk' });
      const point = Buffer.from(key.publicKey, 'base64url');
      expect(publicKey).toMatchObject({
        crv: 'P-256',
        x: point.subarray(1, 33).toString('base64url'),
        y: point.subarray(33).toString('base64url'),
      });
    }
  });

  it('is stored in the document of the ring, which has no such field without Web Push apps', () => {
    const ring = withKeys('web', 'other');
    const document = encodeKeyRing(ring);
    const decoded = decodeKeyRing(new Uint8Array(document));
    expect(
      decoded.vapidKeys.map(({ name, publicKey, createdAt }) => ({ name, publicKey, createdAt })),
    ).toEqual(ring.vapidKeys.map(({ name, publicKey, createdAt }) => ({ name, publicKey, createdAt })));
    expect(decoded.vapidKeys.map(({ privateKey }) => privateKey.reveal())).toEqual(
      ring.vapidKeys.map(({ privateKey }) => privateKey.reveal()),
    );
    expect(Buffer.from(encodeKeyRing(fresh())).toString()).not.toContain('vapid');
    expect(checkKeyRing(decoded, sodium)).toBeUndefined();
  });

  it('is wiped with the ring, unless another ring shares it', () => {
    const ring = withKeys('web');
    const bytes = ring.vapidKeys[0]?.privateKey.reveal() ?? new Uint8Array();
    wipeKeyRing(ring, sodium, { ...fresh(), vapidKeys: ring.vapidKeys });
    expect(bytes.some((byte) => byte !== 0)).toBe(true);
    wipeKeyRing(ring, sodium);
    expect(bytes.every((byte) => byte === 0)).toBe(true);
  });

  it('is rejected if its halves do not match, or if an app has two key pairs', () => {
    const ring = withKeys('web', 'other');
    const [one, two] = ring.vapidKeys;
    const swapped = { ...ring, vapidKeys: [{ ...one, privateKey: two?.privateKey } as never] };
    expect(checkKeyRing(swapped, sodium)).toContain('The VAPID key of web does not belong');
    const twice = { ...ring, vapidKeys: [one, one] as never };
    expect(checkKeyRing(twice, sodium)).toContain('two VAPID keys for one app');
  });

  it('is listed in the changes of the ring', () => {
    const [before, after] = [fresh(), withKeys('web')];
    expect(describeChanges({ ...after, vapidKeys: [] }, after)).toEqual(['VAPID key of web added']);
    expect(describeChanges(after, { ...after, vapidKeys: [] })).toEqual(['VAPID key of web destroyed']);
    void before;
  });
});

describe('the VAPID keys of a ring', () => {
  it('are created once for each app, and stay in the stored ring', async () => {
    const disk = await ringOnDisk();
    let { ring } = await disk.keeper.read();
    const keys = new VapidKeys(
      () => ring,
      async (transition) => {
        ({ ring } = await disk.keeper.change(transition, { actor: 'test', action: 'add' }));
      },
    );
    expect(await keys.ensure(['web', 'other', 'web'], startedAt)).toEqual(['web', 'other']);
    const first = [keys.publicKeyOf('web'), keys.publicKeyOf('other')];
    expect(new Set(first).size).toBe(2);
    expect(await keys.ensure(['other', 'third'], startedAt + 1)).toEqual(['third']);
    expect(await keys.ensure(['other', 'third'], startedAt + 1)).toEqual([]);
    expect([keys.publicKeyOf('web'), keys.publicKeyOf('other')]).toEqual(first);
    expect(keys.publicKeyOf('third')).toBeDefined();
    const stored = (await disk.keeper.read()).ring;
    expect(stored.vapidKeys.map(({ name }) => name)).toEqual(['web', 'other', 'third']);
    expect(privateTexts(stored).length).toBeGreaterThan(privateTexts(fresh()).length);
  });

  it('sign tokens for known apps only, and the public half verifies the signature', async () => {
    const ring = withKeys('web');
    const keys = new VapidKeys(() => ring);
    expect(await keys.ensure(['unknown'], startedAt)).toEqual([]);
    const claims = {
      audience: 'https://push.example',
      subject: 'mailto:a@b.example',
      expiresAt: startedAt + 1500,
    };
    expect(keys.sign('unknown', claims)).toBeUndefined();
    const signed = keys.sign('web', claims);
    const [header = '', payload = '', signature = ''] = signed?.token.split('.') ?? [];
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      aud: 'https://push.example',
      exp: Math.floor((startedAt + 1500) / 1000),
      sub: 'mailto:a@b.example',
    });
    const [key] = ring.vapidKeys;
    expect(signed?.publicKey).toBe(key?.publicKey);
    const publicKey = createPublicKey(signingKeyOf(key as never));
    const bytes = Buffer.from(signature, 'base64url');
    const text = Buffer.from(`${header}.${payload}`);
    expect(verify('sha256', text, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(true);
  });
});
