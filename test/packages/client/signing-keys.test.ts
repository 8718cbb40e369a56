import { describe, expect, it } from 'vitest';
import {
  createFollowingPhone,
  nextSigner,
  recovery,
  relaySigner,
  second,
  thiefKey,
  third,
} from './following-phone.js';
import { endorse, type KeyListPlan, keyListAnswer, signer } from './key-list-maker.js';
import { createPhone } from './phone.js';

describe('A signing key', () => {
  const rotated = [
    { public_key: relaySigner.publicKey, endorsement: null },
    { public_key: nextSigner.publicKey, endorsement: endorse(relaySigner, nextSigner) },
  ];
  const last = signer(102);
  const recovered = [{ public_key: nextSigner.publicKey, endorsement: endorse(recovery, nextSigner) }];

  it('is followed along the chain, even over several steps in one list', async () => {
    const { publish, registrar, sealedTo } = await createFollowingPhone();
    publish({
      signer: last,
      chain: [...rotated, { public_key: last.publicKey, endorsement: endorse(nextSigner, last) }],
    });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
    expect(sealedTo()).toEqual([second]);
  });

  it('is no longer accepted once it has been replaced', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone();
    publish({ signer: nextSigner, chain: rotated });
    await registrar.sync();
    server.now += 1000;
    publish({ primary: thiefKey, signer: relaySigner });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    expect(sealedTo()).toEqual([second]);
  });

  it('is replaced through the recovery key after a theft, and the stolen key is rejected permanently', async () => {
    const { publish, registrar, server, sealedTo } = await createFollowingPhone({ withRecovery: true });
    publish();
    await registrar.sync();
    server.now += 1000;
    publish({ primary: third, signer: nextSigner, chain: recovered, revoked: [relaySigner.publicKey] });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
    server.now += 1000;
    publish({ primary: thiefKey, signer: relaySigner });
    await registrar.sync();
    expect(sealedTo()).toEqual([second, third]);
  });

  it.each([
    {
      by: 'itself',
      chain: [...recovered, { public_key: last.publicKey, endorsement: endorse(nextSigner, last) }],
    },
    { by: 'the recovery key', chain: [{ public_key: last.publicKey, endorsement: endorse(recovery, last) }] },
  ])(
    'is not accepted again through the recovery key’s old endorsement after $by has replaced it',
    async ({ chain }) => {
      const { publish, registrar, server, sealedTo } = await createFollowingPhone({ withRecovery: true });
      publish({ signer: nextSigner, chain: recovered });
      await registrar.sync();
      server.now += 1000;
      publish({ signer: last, chain });
      await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
      server.now += 1000;
      publish({ primary: thiefKey, signer: nextSigner, chain: recovered });
      await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
      expect(sealedTo()).toEqual([second]);
    },
  );

  it('is not accepted through a recovery key that the app does not pin', async () => {
    const { publish, registrar } = await createFollowingPhone();
    publish({ signer: nextSigner, chain: recovered });
    await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'built-in' });
  });

  it('is taken from an updated app, unless the phone already follows a later key', async () => {
    const first = await createFollowingPhone();
    first.publish({ signer: nextSigner, chain: rotated });
    await first.registrar.sync();
    const { store } = first;
    async function updatedTo(signingPublicKey: string, by: Partial<KeyListPlan>) {
      const phone = await createPhone({ keyList: { signingPublicKey, store } });
      phone.server.addBouncerKey(2);
      phone.server.now = first.server.now + 1000;
      const issuedAt = Math.floor(phone.server.now / 1000);
      phone.server.keyList = keyListAnswer({ issuedAt, primary: second, signer: nextSigner, ...by });
      return phone.registrar.sync();
    }
    const unrelated = signer(103);
    await expect(updatedTo(relaySigner.publicKey, { chain: rotated })).resolves.toMatchObject({
      keySource: 'key-list',
    });
    await expect(updatedTo(unrelated.publicKey, { signer: unrelated })).resolves.toMatchObject({
      keySource: 'key-list',
    });
  });

  it('in an updated app does not downgrade a phone that follows a later key in the chain', async () => {
    const { publish, registrar, server, store } = await createFollowingPhone();
    const chain = [...rotated, { public_key: last.publicKey, endorsement: endorse(nextSigner, last) }];
    publish({ signer: last, chain });
    await registrar.sync();
    const updated = await createPhone({ keyList: { signingPublicKey: nextSigner.publicKey, store } });
    updated.server.addBouncerKey(2);
    updated.server.now = server.now + 1000;
    const issuedAt = Math.floor(updated.server.now / 1000);
    const stolen = { issuedAt, primary: thiefKey, signer: nextSigner, chain: rotated };
    updated.server.keyList = keyListAnswer(stolen);
    await expect(updated.registrar.sync()).resolves.toMatchObject({ keySource: 'last-good-list' });
    updated.server.keyList = server.keyList;
    await expect(updated.registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
  });
});
