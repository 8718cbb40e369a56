import { type KeyListAnswer, verifyKeyList } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { longestClockLagMilliseconds } from '#client/time-to-follow.js';
import { mendDates, requireClockOfRing } from '#relay/keyring/clock/ring-clock.js';
import { type KeyTerminal, keysOf, ringOf, terminalWithRing } from './key-terminal.js';
import { day, policy, sodium, startedAt } from './ring-material.js';

const year = 365 * day;
const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);

/** Runs one command while the operator confirms the clock's date. */
async function confirmed(terminal: KeyTerminal, ...argv: string[]) {
  terminal.environment.RELAY_KEY_TODAY = dayOf(terminal.now);
  const ran = await terminal.run(...argv);
  delete terminal.environment.RELAY_KEY_TODAY;
  return ran;
}

/**
 * Verifies the published list as a phone that has followed a list with `lastSequence`. The phone's clock is correct by
 * default.
 */
async function phoneFollows(terminal: KeyTerminal, lastSequence: number, clockError = 0) {
  const exported = await terminal.json('export-public');
  const verdict = verifyKeyList(
    { result: 'success', ...(exported.key_list as Omit<KeyListAnswer, 'result'>) },
    {
      verify: (signature, message, key) => sodium.verifyDetached(signature, message, key),
      signingPublicKey: String(exported.signing_public_key),
      recoveryPublicKey: undefined,
      revokedKeys: new Set(),
      lastSequence,
      nowSeconds: Math.floor((terminal.now + clockError) / 1000),
      clockLagSeconds: longestClockLagMilliseconds / 1000,
    },
  );
  return verdict.kind === 'verified' ? verdict.list.sequence : verdict.reason;
}

/** Creates a ring that was rotated while the clock was ahead. The clock is correct again when the function returns. */
async function spoiltRing(ahead = 10 * year) {
  const terminal = await terminalWithRing();
  const right = terminal.now + 5 * day;
  const seen = Number(await phoneFollows(terminal, 0));
  terminal.now = right + ahead;
  expect((await confirmed(terminal, 'rotate')).error).toBeUndefined();
  terminal.now = right;
  return { terminal, right, seen };
}

describe('a command with a clock that is far from the times in the ring', () => {
  it.each([
    ['rotate'],
    ['rotate', '--dry-run'],
    ['rotate-token-key'],
    ['rotate-signing-key', '--yes'],
    ['verify'],
  ])('is refused when the clock is ten years ahead: %s %s', async (...argv) => {
    const terminal = await terminalWithRing();
    const before = await ringOf(terminal);
    terminal.now += 10 * year;
    const { error } = await terminal.run(...argv);
    expect(error).toContain(
      'The clock says 2036-02-27T00:00:00.000Z, 3650 days after the last change of the key ring: correct the clock or',
    );
    expect(error).toContain('RELAY_KEY_TODAY=YYYY-MM-DD');
    terminal.now -= 10 * year;
    expect(await ringOf(terminal)).toEqual(before);
  });

  it('runs after a pause of at most 90 days, or if the operator confirms today’s date', async () => {
    const terminal = await terminalWithRing();
    const { published } = await ringOf(terminal);
    terminal.now = Number(published?.issuedAt) + 90 * day + 1;
    expect((await terminal.run('verify')).error).toContain('90 days after the last change');
    terminal.environment.RELAY_KEY_TODAY = '2026-05-20';
    expect((await terminal.run('rotate')).error).toContain('90 days after');
    expect((await confirmed(terminal, 'rotate')).error).toBeUndefined();
    expect((await terminal.run('rotate')).error).toBeUndefined();
    terminal.now += 90 * day;
    expect((await terminal.run('rotate')).error).toBeUndefined();
  });

  it('is refused if the clock is more than a day behind, and runs if the lag is smaller', async () => {
    const terminal = await terminalWithRing();
    const start = terminal.now;
    terminal.now = start - day + 59_999;
    const { error } = await terminal.run('rotate');
    expect(error).toContain(
      'The clock says 2026-02-28T00:00:59.999Z, but the key ring was changed at 2026-03-01T00:00:00.000Z, 1 days later',
    );
    expect((await confirmed(terminal, 'rotate')).error).toBe(error);
    terminal.now = start - day + 60_000;
    expect((await terminal.run('rotate')).error).toBeUndefined();
    // The sequence is higher than the last one, and at most a day ahead of the clock, so phones follow the list.
    expect(await phoneFollows(terminal, start)).toBe(start + 1);
  });

  it('rejects a RELAY_KEY_TODAY that is not a date', async () => {
    const terminal = await terminalWithRing();
    terminal.environment.RELAY_KEY_TODAY = 'today';
    expect((await terminal.run('rotate')).error).toContain(
      'RELAY_KEY_TODAY must be a day such as 2026-11-22, but is "today".',
    );
  });
});

describe('a ring whose list has the right date, but a sequence from a clock that was ahead', () => {
  it('is refused, and corrected to a sequence that phones accept', async () => {
    const terminal = await terminalWithRing();
    const ring = await ringOf(terminal);
    if (ring.published === undefined) throw new Error('a new ring has no signed list');
    const now = terminal.now;
    const spoilt = { ...ring, published: { ...ring.published, sequence: now + 10 * year } };
    const reading = { now, confirmedDay: undefined };
    expect(() => requireClockOfRing(ring, reading)).not.toThrow();
    expect(() => requireClockOfRing(spoilt, reading)).toThrow('keys mend-dates --today YYYY-MM-DD');
    const mended = mendDates(spoilt, { now, policy });
    expect(() => requireClockOfRing(mended, reading)).not.toThrow();
    expect(mended.published?.sequence).toBeLessThanOrEqual(now + longestClockLagMilliseconds);
    expect(mendDates(ring, { now, policy })).toBe(ring);
  });
});

describe('keys mend-dates', () => {
  it('corrects a token key, even if only that key was dated ten days ahead', async () => {
    const terminal = await terminalWithRing();
    const right = terminal.now;
    terminal.now = right + 10 * day;
    expect((await terminal.run('rotate-token-key')).error).toBeUndefined();
    terminal.now = right;
    expect((await terminal.run('rotate')).error).toContain('keys mend-dates --today YYYY-MM-DD');
    expect((await terminal.run('mend-dates', '--today', dayOf(right))).error).toBeUndefined();
    const { tokenKeys } = await ringOf(terminal);
    expect(tokenKeys.at(-1)?.currentFrom).toBe(right + 120_000);
    expect((await terminal.run('rotate')).error).toBeUndefined();
  });

  it('repairs a ring from a clock that was ten years ahead, and phones accept its list again', async () => {
    const { terminal, right, seen } = await spoiltRing();
    expect(await phoneFollows(terminal, seen)).toBe('issued-in-the-future');
    const refused = await terminal.run('rotate');
    expect(refused.error).toContain('3650 days later: correct the clock or');
    expect(refused.error).toContain('keys mend-dates --today YYYY-MM-DD');
    const mended = await terminal.run('mend-dates', '--today', dayOf(right));
    expect(mended.printed).toContain('new dates');
    expect(await phoneFollows(terminal, seen)).toBe(right);
    const { bouncerKeys, published } = await ringOf(terminal);
    expect(bouncerKeys).toMatchObject([
      { state: 'accepted', acceptedSince: right, acceptedUntil: right + 400 * day },
      { state: 'primary', createdAt: right, primarySince: right },
    ]);
    expect(published).toMatchObject({ sequence: right, issuedAt: right });
    expect((await terminal.run('rotate')).error).toBeUndefined();
    expect(await phoneFollows(terminal, right)).toBe(right + 1);
  });

  it.each([2, 5, 7])(
    'makes phones accept new lists after they accepted a list from %d days ahead',
    async (days) => {
      const { terminal, right, seen } = await spoiltRing(days * day);
      const followed = right + days * day;
      expect(await phoneFollows(terminal, seen)).toBe(followed);
      expect((await terminal.run('rotate')).error).toContain('keys mend-dates --today YYYY-MM-DD');
      expect((await terminal.run('mend-dates', '--today', dayOf(right))).printed).toContain(': new dates');
      terminal.now += 1000;
      expect((await terminal.run('verify')).error).toBeUndefined();
      expect(await phoneFollows(terminal, followed)).toBe(followed + 1);
      expect((await ringOf(terminal)).published).toMatchObject({ issuedAt: right });
      const [, primary] = await keysOf(terminal);
      expect(
        (await terminal.run('revoke', primary?.id ?? '', '--compromised', '--yes')).error,
      ).toBeUndefined();
      expect(await phoneFollows(terminal, followed + 1)).toBe(followed + 2);
      terminal.now = followed + day;
      expect((await terminal.run('rotate')).error).toBeUndefined();
      expect(await phoneFollows(terminal, followed + 2)).toBe(followed + day);
    },
  );

  it.each([2, 5, 7])(
    'makes phones that are %d days behind accept the new list, regardless of their last list',
    async (days) => {
      const ahead = 7 * day - 1000;
      const { terminal, right, seen } = await spoiltRing(ahead);
      await terminal.run('mend-dates', '--today', dayOf(right));
      for (const followed of [seen, right + ahead]) {
        expect(await phoneFollows(terminal, followed, -days * day)).toBe(right + ahead + 1);
      }
    },
  );

  it('repairs signing keys, token keys, and retired or revoked keys, and keeps correct dates', async () => {
    const { terminal, right } = await spoiltRing();
    const [first, second] = await keysOf(terminal);
    terminal.now = right + 10 * year;
    for (const argv of [
      ['rotate'],
      ['retire', first?.id ?? '', '--yes', '--force'],
      ['revoke', second?.id ?? '', '--compromised', '--yes'],
      ['rotate-signing-key', '--yes'],
      ['rotate-token-key'],
    ]) {
      expect((await confirmed(terminal, ...argv)).error).toBeUndefined();
    }
    terminal.now = right;
    await terminal.run('mend-dates', '--today', dayOf(right));
    const ring = await ringOf(terminal);
    expect(ring.bouncerKeys).toMatchObject([
      { state: 'retired', createdAt: startedAt, retiredAt: right },
      { state: 'compromised', createdAt: right, revokedAt: right },
      { state: 'primary', primarySince: right },
    ]);
    expect(ring.signingKeys.map(({ createdAt }) => createdAt)).toEqual([startedAt, right]);
    expect(ring.tokenKeys.map(({ currentFrom }) => currentFrom)).toEqual([0, right + 120_000]);
  });

  it('keeps the date of an accepted key that was replaced while the clock was correct', async () => {
    const terminal = await terminalWithRing();
    await terminal.run('rotate');
    terminal.now += 10 * year;
    await confirmed(terminal, 'rotate');
    terminal.now = startedAt + day;
    await terminal.run('mend-dates', '--today', dayOf(terminal.now));
    expect((await ringOf(terminal)).bouncerKeys[0]).toMatchObject({
      acceptedSince: startedAt,
      acceptedUntil: startedAt + 400 * day,
    });
  });

  it('changes nothing in a valid ring, and nothing at all with --dry-run', async () => {
    const terminal = await terminalWithRing();
    const sound = await ringOf(terminal);
    const ran = await terminal.run('mend-dates', '--today', dayOf(terminal.now));
    expect(ran.printed).toContain('Nothing changes.');
    expect(await ringOf(terminal)).toEqual(sound);
    const { terminal: other, right } = await spoiltRing();
    const spoilt = await ringOf(other);
    const dry = await other.run('mend-dates', '--today', dayOf(right), '--dry-run');
    expect(dry.printed).toContain('This would change:');
    expect(await ringOf(other)).toEqual(spoilt);
  });

  it('refuses if the date from the operator contradicts the clock or is missing', async () => {
    const { terminal, right } = await spoiltRing();
    const spoilt = await ringOf(terminal);
    for (const [now, today, complaint] of [
      [right - 3 * year, dayOf(right), 'but you say that today is'],
      [right, dayOf(right + 3 * day), 'but you say that today is'],
      [right, dayOf(right - 3 * day), 'but you say that today is'],
      [right, 'today', '--today must be a day'],
    ] as const) {
      terminal.now = now;
      expect((await terminal.run('mend-dates', '--today', today)).error).toContain(complaint);
    }
    expect((await terminal.run('mend-dates')).error).toContain('--today');
    expect(await ringOf(terminal)).toEqual(spoilt);
  });
});
