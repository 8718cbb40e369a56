import { type KeyListAnswer, type KeyListTrust, keyListAnswer, verifyKeyList } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { verifyDetached } from '../../support/noble-oracle.js';
import {
  bouncerKey,
  documentOf,
  endorse,
  inDomain,
  type KeyListPlan,
  signer,
  keyListAnswer as signList,
} from '../client/key-list-maker.js';

const pinned = signer(100);
const next = signer(101);
const recovery = signer(99);
const thief = signer(66);
const second = signer(67);
const day = 86_400;
const now = 1_790_000_000;

const trust: KeyListTrust = {
  verify: verifyDetached,
  signingPublicKey: pinned.publicKey,
  recoveryPublicKey: recovery.publicKey,
  revokedKeys: new Set(),
  lastSequence: 0,
  nowSeconds: now,
};

function answer(plan: Partial<KeyListPlan> = {}): KeyListAnswer {
  const whole = { issuedAt: now, primary: bouncerKey(1), signer: pinned, ...plan };
  return keyListAnswer.parse({ result: 'success', ...signList(whole) });
}

function verdict(plan: Partial<KeyListPlan>, changed: Partial<KeyListTrust> = {}): string {
  const verified = verifyKeyList(answer(plan), { ...trust, ...changed });
  return verified.kind === 'verified' ? `signed by ${verified.signingPublicKey}` : verified.reason;
}

const first = (key: typeof pinned) => ({ public_key: key.publicKey, endorsement: null });
const link = (by: typeof pinned, key: typeof pinned) => ({
  public_key: key.publicKey,
  endorsement: endorse(by, key),
});
const unknown = 'unknown-signing-key';

describe('The chain of signing keys', () => {
  it('must begin at a trusted key, not at untrusted keys that endorse each other', () => {
    expect(verdict({ signer: second, chain: [first(thief), link(thief, second)] })).toBe(unknown);
  });

  it('may consist of only the trusted key', () => {
    expect(verdict({})).toBe(`signed by ${pinned.publicKey}`);
    expect(verdict({ signer: thief })).toBe(unknown);
  });

  it('is followed from the trusted key, at any position', () => {
    const chain = [first(thief), link(thief, pinned), link(pinned, next)];
    expect(verdict({ signer: next, chain })).toBe(`signed by ${next.publicKey}`);
    expect(verdict({ signer: next, chain: [first(pinned), link(pinned, next)] })).toBe(
      `signed by ${next.publicKey}`,
    );
  });

  it('breaks at a link that the previous key has not endorsed', () => {
    for (const endorsement of [null, endorse(thief, next), endorse(pinned, thief)]) {
      const chain = [first(pinned), { public_key: next.publicKey, endorsement }];
      expect(verdict({ signer: next, chain })).toBe(unknown);
    }
  });

  it('stays broken after a broken link, even if each later key endorses the next', () => {
    const chain = [first(pinned), link(thief, thief), link(thief, second)];
    expect(verdict({ signer: second, chain })).toBe(unknown);
  });

  it('is not repaired by an endorsement from a key other than the previous key', () => {
    const chain = [first(pinned), link(pinned, next), link(pinned, second)];
    expect(verdict({ signer: second, chain })).toBe(unknown);
  });

  it('may restart at a key that the pinned recovery key endorses, at any position', () => {
    for (const chain of [[link(recovery, next)], [first(thief), link(recovery, next)]]) {
      expect(verdict({ signer: next, chain })).toBe(`signed by ${next.publicKey}`);
      expect(verdict({ signer: next, chain }, { recoveryPublicKey: undefined })).toBe(unknown);
    }
  });

  it('does not lead through or to a revoked key, regardless of its endorsements', () => {
    const revoked = (key: typeof pinned) => ({ revokedKeys: new Set([key.publicKey]) });
    const chain = [first(pinned), link(pinned, next)];
    expect(verdict({}, revoked(pinned))).toBe(unknown);
    expect(verdict({ signer: next, chain }, revoked(pinned))).toBe(unknown);
    expect(verdict({ signer: next, chain }, revoked(next))).toBe(unknown);
    expect(verdict({ signer: next, chain: [link(recovery, next)] }, revoked(next))).toBe(unknown);
  });

  it('must end at the key that signs the list', () => {
    const chain = [first(pinned), link(pinned, next)];
    expect(verdict({ signer: pinned, chain })).toBe('malformed');
    expect(verdict({ signer: thief, chain: [first(pinned)] })).toBe('malformed');
  });
});

describe('The signature of a key list', () => {
  it('must be from the key that the response names', () => {
    const { signature } = answer({ signer: thief });
    expect(verifyKeyList({ ...answer(), signature }, trust)).toMatchObject({ reason: 'bad-signature' });
  });

  it('must cover the exact bytes', () => {
    const { key_list } = answer({ primary: bouncerKey(2) });
    expect(verifyKeyList({ ...answer(), key_list }, trust)).toMatchObject({ reason: 'bad-signature' });
  });

  it.each(['', 'AAAA', 'no base64!'])('is rejected if it is “%s”', (signature) => {
    expect(verifyKeyList({ ...answer(), signature }, trust)).toMatchObject({ reason: 'bad-signature' });
  });
});

describe('The document of a key list', () => {
  it.each(['!', '', '/w==', btoa('{'), btoa('{}')])('is malformed if it is “%s”', (key_list) => {
    expect(verifyKeyList({ ...answer(), key_list }, trust)).toEqual({ kind: 'refused', reason: 'malformed' });
  });

  const plan = { issuedAt: now, primary: bouncerKey(1), signer: pinned };
  const good = documentOf(plan);
  const [primary] = good.keys as object[];

  function verdictOn(text: string | Uint8Array): string {
    const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const verified = verifyKeyList(
      {
        ...answer(),
        key_list: Buffer.from(bytes).toString('base64'),
        signature: pinned.sign(inDomain('waxwing key list v1', bytes)),
      },
      trust,
    );
    return verified.kind === 'verified' ? 'verified' : verified.reason;
  }

  it.each([
    ['of a different version', { version: 2 }],
    ['with two primary keys', { keys: [primary, primary] }],
    ['with no primary key', { keys: [{ ...primary, state: 'accepted' }] }],
    ['with an invalid key', { keys: [{ ...primary, public_key: 'AAAA' }] }],
    ['with a key in an unknown state', { keys: [primary, { ...primary, state: 'retired' }] }],
    ['that revokes an invalid key', { revoked: ['AAAA'] }],
    ['without signing keys', { signing_keys: [] }],
    ['with an invalid endorsement', { signing_keys: [{ public_key: pinned.publicKey, endorsement: 'AA' }] }],
    ['with a fractional sequence', { sequence: 0.5 }],
    ['issued before 1970', { issued_at: -1 }],
  ])('is malformed, although validly signed, if it is a document %s', (_, change) => {
    expect(verdictOn(JSON.stringify(good))).toBe('verified');
    expect(verdictOn(JSON.stringify({ ...good, ...change }))).toBe('malformed');
  });

  it('is malformed if it is not UTF-8', () => {
    const text = (more: string) => Buffer.from(JSON.stringify({ ...good, more }), 'latin1');
    expect(verdictOn(text('e'))).toBe('verified');
    expect(verdictOn(text('\u00e9'))).toBe('malformed');
  });

  it('is returned exactly as signed', () => {
    expect(verifyKeyList(answer(), trust)).toMatchObject({
      kind: 'verified',
      list: { sequence: now * 1000, issued_at: now, keys: [{ public_key: bouncerKey(1) }] },
      signingPublicKey: pinned.publicKey,
    });
  });
});

describe('The times of a key list', () => {
  const good = `signed by ${pinned.publicKey}`;

  it.each([
    ['expires in one second', { issuedAt: now - 1, expiresAt: now + 1 }, good],
    ['expires this second', { issuedAt: now - 1, expiresAt: now }, 'expired'],
    ['was issued a day ahead', { issuedAt: now + day }, good],
    ['was issued a second more than a day ahead', { issuedAt: now + day + 1 }, 'issued-in-the-future'],
    ['has a sequence a day ahead of its date', { sequence: (now + day) * 1000 }, good],
    [
      'has a sequence further ahead of its date',
      { sequence: (now + day) * 1000 + 1 },
      'sequence-too-far-ahead',
    ],
  ])('are checked to the second: a list that %s', (_, plan, expected) => {
    expect(verdict(plan)).toBe(expected);
  });

  it('may be ahead by as much as the client’s clock may lag', () => {
    const lag = { clockLagSeconds: 7 * day };
    expect(verdict({ issuedAt: now + 7 * day }, lag)).toBe(good);
    expect(verdict({ issuedAt: now + 7 * day + 1 }, lag)).toBe('issued-in-the-future');
    expect(verdict({ sequence: (now + 7 * day) * 1000 }, lag)).toBe(good);
    expect(verdict({ sequence: (now + 7 * day) * 1000 + 1 }, lag)).toBe('sequence-too-far-ahead');
  });

  it('let a client that is days behind follow the same sequence as clients with a correct clock', () => {
    const lag = { clockLagSeconds: 7 * day };
    const mended = { issuedAt: now + 5 * day, sequence: (now + 12 * day) * 1000 };
    expect(verdict(mended, lag)).toBe(good);
    expect(verdict({ ...mended, sequence: mended.sequence + 1 }, lag)).toBe('sequence-too-far-ahead');
  });

  it('allow the last sequence again, but no earlier sequence', () => {
    expect(verdict({}, { lastSequence: now * 1000 })).toBe(good);
    expect(verdict({}, { lastSequence: now * 1000 + 1 })).toBe('sequence-went-back');
  });

  it('are checked last, so that a forgery is reported as a forgery', () => {
    expect(verdict({ signer: thief, issuedAt: 0, expiresAt: 1 })).toBe(unknown);
  });
});
