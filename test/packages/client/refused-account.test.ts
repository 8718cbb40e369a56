import { describe, expect, it } from 'vitest';
import { createPhone, type Phone, registerAgain } from './phone.js';

const day = 86_400_000;

describe('A phone whose account the relay refuses', () => {
  /**
   * Makes the fake relay refuse all registrations of the victim's account, and registrations whose date or sequence
   * number is a day ahead.
   */
  function guard({ server }: Phone, victim = '') {
    server.verdictOn = ({ pushAccountId, registration }) => {
      const latest = server.now + day + 999;
      const isAhead = [Number(registration.timestamp) * 1000, Number(registration.sequence)].some(
        (instant) => instant > latest,
      );
      if (isAhead) return 'BAD_REQUEST';
      return pushAccountId === victim ? 'REQUEST_EXPIRED' : null;
    };
  }

  it.each([0, 20])(
    'recovers automatically with a new account, even if its clock is %d hours ahead',
    async (hours) => {
      const { accounts, knobs, ...phone } = await createPhone();
      knobs.clockErrorMilliseconds = hours * 3_600_000;
      await phone.registrar.sync();
      const [before] = await accounts.list();
      guard(phone, phone.server.lastRegistration.pushAccountId);
      knobs.token = { tokenKind: 'fcm', token: 'changed' };
      await expect(phone.registrar.sync()).resolves.toMatchObject({ code: 'active' });
      const [after, ...others] = await accounts.list();
      expect(others).toEqual([]);
      expect(after?.pushAccountId).not.toBe(before?.pushAccountId);
      expect(after?.keyPair.publicKey).not.toEqual(before?.keyPair.publicKey);
      const { length } = phone.server.registrations;
      await phone.registrar.sync();
      expect(phone.server.registrations).toHaveLength(length);
    },
  );

  it('keeps its account when its own clock is behind', async () => {
    const { accounts, knobs, ...phone } = await createPhone();
    await phone.registrar.sync();
    const [before] = await accounts.list();
    knobs.clockErrorMilliseconds = -8 * day;
    expect((await registerAgain(phone)).status).toMatchObject({ code: 'clock-wrong' });
    expect((await accounts.list())[0]?.pushAccountId).toBe(before?.pushAccountId);
  });

  it('recovers if its own clock was ahead and the relay has the resulting sequence number', async () => {
    const { server: plain, ...rest } = await createPhone();
    const withoutDate = async (url: string, init: RequestInit) => {
      const answer = await plain.fetch(url, init);
      answer.headers.delete('date');
      return answer;
    };
    const knobs = { clockErrorMilliseconds: 400 * day };
    const { accounts, registrar } = await createPhone({
      fetch: withoutDate,
      bouncerPublicKey: rest.bouncerPublicKey,
      clock: () => plain.now + knobs.clockErrorMilliseconds,
    });
    guard({ server: plain, registrar });
    await expect(registrar.sync()).resolves.toMatchObject({ errorCode: 'BAD_REQUEST' });
    knobs.clockErrorMilliseconds = 0;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(plain.lastRegistration.registration.sequence).toBe(plain.now);
    expect(await accounts.list()).toMatchObject([{ sequence: plain.now }]);
  });
});
