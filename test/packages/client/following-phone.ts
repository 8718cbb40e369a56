import { createMemoryKeyListStore, type PushClientOptions } from '@waxwing/client';
import { bouncerKey, documentOf, type KeyListPlan, keyListAnswer, signer } from './key-list-maker.js';
import { createPhone } from './phone.js';

export const day = 86_400;
export const relaySigner = signer(100);
export const nextSigner = signer(101);
export const thief = signer(66);
export const recovery = signer(99);
export const [builtIn, second, third, thiefKey] = [1, 2, 3, 66].map(bouncerKey) as [
  string,
  string,
  string,
  string,
];

/**
 * A phone that follows key lists. The phone's relay has the keys 1 to 3. The relay also has the thief's key, to detect
 * registrations that are sealed to this key.
 */
export async function createFollowingPhone({
  withRecovery = false,
  store = createMemoryKeyListStore(),
  options = {} as Partial<PushClientOptions>,
} = {}) {
  const keyList = {
    signingPublicKey: relaySigner.publicKey,
    store,
    ...(withRecovery ? { recoveryPublicKey: recovery.publicKey } : {}),
  };
  const phone = await createPhone({ ...options, keyList });
  for (const byte of [2, 3, 66]) phone.server.addBouncerKey(byte);
  const now = () => Math.floor(phone.server.now / 1000);
  /** Makes the server publish a list, issued now by default. */
  const publish = (
    plan: Partial<KeyListPlan> = {},
    change?: (document: Record<string, unknown>) => unknown,
  ) => {
    const whole = { issuedAt: now(), primary: second, accepted: [builtIn], signer: relaySigner, ...plan };
    phone.server.keyList = keyListAnswer(whole, change?.(documentOf(whole)));
  };
  const forgetList = () => {
    phone.server.keyList = undefined;
  };
  const sealedTo = () => phone.server.registrations.map(({ bouncerPublicKey }) => bouncerPublicKey);
  return { ...phone, store, now, publish, forgetList, sealedTo };
}
