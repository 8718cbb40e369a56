import { describe, expect, it } from 'vitest';
import {
  createFollowingPhone,
  nextSigner,
  recovery,
  relaySigner,
  second,
  thief,
  thiefKey,
  third,
} from './following-phone.js';
import { endorse, type KeyListPlan, keyListAnswer, type Signer, signer } from './key-list-maker.js';
import { createPhone } from './phone.js';

const endorsedBy = (endorser: Signer, signer: Signer) => ({
  signer,
  chain: [{ public_key: signer.publicKey, endorsement: endorse(endorser, signer) }],
});
const recovered = { primary: third, revoked: [relaySigner.publicKey], ...endorsedBy(recovery, nextSigner) };

/** Creates a phone that pins no recovery key, and makes it follow these lists, issued one second apart. */
async function phoneThatSaw(...plans: readonly Partial<KeyListPlan>[]) {
  const phone = await createFollowingPhone();
  async function see(plan: Partial<KeyListPlan>) {
    phone.server.now += 1000;
    phone.publish(plan);
    return (await phone.registrar.sync()).keySource;
  }
  for (const plan of plans) expect(await see(plan)).toBe('key-list');
  /** Returns the same phone after an app update. */
  async function updated(pins: { readonly signingPublicKey: string; readonly recoveryPublicKey?: string }) {
    const after = await createPhone({ keyList: { store: phone.store, ...pins } });
    for (const byte of [2, 3, 66]) after.server.addBouncerKey(byte);
    after.server.now = phone.server.now;
    return async (plan: Partial<KeyListPlan>) => {
      after.server.now += 1000;
      const issuedAt = Math.floor(after.server.now / 1000);
      after.server.keyList = keyListAnswer({ issuedAt, primary: second, signer: relaySigner, ...plan });
      return (await after.registrar.sync()).keySource;
    };
  }
  return { ...phone, see, updated };
}

describe('A recovery key that the app does not pin', () => {
  it('lets phones that have seen it in a list follow the new signing key after a theft', async () => {
    const { see, sealedTo } = await phoneThatSaw({ recovery });
    expect(await see(recovered)).toBe('key-list');
    expect(await see({ primary: thiefKey })).toBe('last-good-list');
    expect(sealedTo()).toEqual([second, third]);
  });

  it('is not learned from the list that depends on it', async () => {
    const { see } = await phoneThatSaw({});
    expect(await see({ ...recovered, recovery })).toBe('last-good-list');
    expect(await see({ ...recovered, recovery })).toBe('last-good-list');
  });

  it('is not learned from a list whose chain does not start at the key in the app', async () => {
    const { see } = await phoneThatSaw({});
    expect(await see({ signer: thief, recovery: thief })).toBe('last-good-list');
    expect(await see(endorsedBy(thief, signer(102)))).toBe('last-good-list');
  });

  it('is kept if a thief of the signing key replaces, revokes or omits it', async () => {
    const { see } = await phoneThatSaw(
      { recovery },
      { recovery: thief },
      { revoked: [recovery.publicKey] },
      {},
    );
    expect(await see(endorsedBy(thief, signer(102)))).toBe('last-good-list');
    expect(await see(recovered)).toBe('key-list');
  });

  it('never takes precedence over a recovery key that the next release of the app pins', async () => {
    const { updated } = await phoneThatSaw({ recovery: thief });
    const see = await updated({
      signingPublicKey: relaySigner.publicKey,
      recoveryPublicKey: recovery.publicKey,
    });
    expect(await see({ primary: thiefKey, ...endorsedBy(thief, signer(102)) })).toBe('last-good-list');
    expect(await see(recovered)).toBe('key-list');
  });

  it('is kept if an update pins the signing key that the phone already follows', async () => {
    const pinned = { public_key: relaySigner.publicKey, endorsement: null };
    const { signer: rotated, chain } = endorsedBy(relaySigner, nextSigner);
    const { updated } = await phoneThatSaw({ recovery }, { signer: rotated, chain: [pinned, ...chain] });
    const see = await updated({ signingPublicKey: nextSigner.publicKey });
    expect(await see({ signer: nextSigner })).toBe('key-list');
    const last = signer(104);
    const plan = { primary: third, revoked: [nextSigner.publicKey], ...endorsedBy(recovery, last) };
    expect(await see(plan)).toBe('key-list');
  });

  it('is dropped if an update pins another signing key, because the previous key may be stolen', async () => {
    const { updated } = await phoneThatSaw({ recovery: thief });
    const unrelated = signer(103);
    const see = await updated({ signingPublicKey: unrelated.publicKey });
    expect(await see({ primary: thiefKey, ...endorsedBy(thief, signer(102)) })).toBe('last-good-list');
    expect(await see({ signer: unrelated, recovery })).toBe('key-list');
    expect(await see({ primary: thiefKey, ...endorsedBy(thief, signer(102)) })).toBe('last-good-list');
    expect(await see(recovered)).toBe('key-list');
  });
});
