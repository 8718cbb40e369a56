import { createMemoryPushAccountStore, decodePushAccount, encodePushAccount } from '@waxwing/client';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { createFollowingPhone, second } from './following-phone.js';
import { createPhone, type Phone, registerAgain } from './phone.js';

const day = 86_400_000;

describe('A server that lies about the time', () => {
  it('gets no registration dated more than a day ahead, for any sequence of claimed days', async () => {
    for (const step of [1, -1]) {
      const phone = await createPhone();
      for (let days = 0; days <= 31; days += 1) {
        phone.server.claimedLateness = step * days * day;
        const { dated } = await registerAgain(phone);
        expect(dated - phone.server.now).toBeLessThanOrEqual(day + 1000);
      }
    }
  });

  it('gains nothing from many small steps in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: -400, max: 400 }), { maxLength: 8 }), async (hours) => {
        const phone = await createPhone();
        for (const claimed of hours) {
          phone.server.claimedLateness = claimed * 3_600_000;
          const { dated } = await registerAgain(phone);
          expect(dated - phone.server.now).toBeLessThanOrEqual(day + 1000);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [40, 'Wed, 30 Dec'],
    [-40, 'Sun, 11 Oct'],
  ])(
    'does not keep a phone from registering with a lie of %d days, and the status reports the difference',
    async (days, claimed) => {
      const phone = await createPhone();
      phone.server.claimedLateness = days * day;
      const { status, dated } = await registerAgain(phone);
      expect(status).toMatchObject({
        code: 'clock-wrong',
        sentence: expect.stringContaining('set date and time automatically'),
        warning: `The server's clock says ${claimed} 2026 12:00:00 GMT, and the phone's clock says Fri, 20 Nov 2026 12:00:00 GMT.`,
      });
      expect(dated).toBe(phone.server.now);
    },
  );

  it('never moves a phone’s dates back and forth, and never makes it create another account', async () => {
    for (const hours of [23, 40 * 24, 400 * 24]) {
      const phone = await createPhone();
      const { server, accounts, knobs } = phone;
      server.verdictOn = ({ registration }) =>
        Number(registration.timestamp) * 1000 < server.now - day ? 'REQUEST_EXPIRED' : null;
      let { dated: last } = await registerAgain(phone);
      const [before] = await accounts.list();
      for (const [turn, ahead] of [-1, 0, -1, 1, -1, 0, 1].entries()) {
        server.now += 60_000;
        server.claimedLateness = ahead * hours * 3_600_000;
        knobs.token = { tokenKind: 'fcm', token: `token-${turn}` };
        const { status, dated } = await registerAgain(phone);
        expect(status.code).toBe(ahead !== 0 && hours > 24 ? 'clock-wrong' : 'active');
        expect(dated).toBeGreaterThanOrEqual(last);
        expect(dated).toBeLessThanOrEqual(server.now + day);
        last = dated;
      }
      const accountsNow = await accounts.list();
      expect(accountsNow.map(({ pushAccountId }) => pushAccountId)).toEqual([before?.pushAccountId]);
    }
  });

  it('does not make a phone create another account with a lie of less than a day and delayed registrations', async () => {
    const phone = await createPhone();
    const { server, accounts } = phone;
    server.claimedLateness = -20 * 3_600_000;
    server.verdictOn = ({ registration }) =>
      Number(registration.timestamp) * 1000 < server.now - 10 * 3_600_000 ? 'REQUEST_EXPIRED' : null;
    await expect(phone.registrar.sync()).resolves.toMatchObject({ code: 'active' });
    expect(new Set(server.registrations.map(({ pushAccountId }) => pushAccountId)).size).toBe(1);
    expect(await accounts.list()).toHaveLength(1);
  });

  it.each([40, -40])(
    'does not move a phone from the verified key to the key in the app with a lie of %d days',
    async (days) => {
      const { publish, registrar, server, knobs, sealedTo } = await createFollowingPhone();
      publish();
      await registrar.sync();
      server.claimedLateness = days * day;
      knobs.token = { tokenKind: 'fcm', token: 'changed' };
      await expect(registrar.sync()).resolves.toMatchObject({ keySource: 'key-list' });
      expect(new Set(sealedTo())).toEqual(new Set([second]));
    },
  );

  it('does not make a phone re-register with a claim that the registration is old', async () => {
    const { server, registrar } = await createPhone();
    await registrar.sync();
    server.claimedLateness = 31 * day;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'clock-wrong' });
    expect(server.registrations).toHaveLength(1);
  });

  it('cannot exceed the one-week limit for a phone that is behind by claiming more', async () => {
    const { publish, knobs, ...phone } = await createFollowingPhone();
    publish();
    knobs.clockErrorMilliseconds = -6 * day;
    phone.server.claimedLateness = 20 * day;
    const { status, dated } = await registerAgain(phone);
    expect(status).toMatchObject({ code: 'clock-wrong', keySource: 'key-list' });
    expect(dated).toBe(phone.server.now - 6 * day);
  });

  it('cannot exceed the one-week limit with a time before the list that proves the lag', async () => {
    const { publish, knobs, ...phone } = await createFollowingPhone();
    publish();
    knobs.clockErrorMilliseconds = -6 * day;
    phone.server.claimedLateness = -2 * day;
    const { dated } = await registerAgain(phone);
    expect(dated).toBe(phone.server.now - 6 * day);
  });

  it('is not followed for a week if the phone is not proven to be more than a day behind', async () => {
    const { publish, knobs, ...phone } = await createFollowingPhone();
    publish();
    knobs.clockErrorMilliseconds = -day;
    phone.server.claimedLateness = 5 * day;
    const { dated } = await registerAgain(phone);
    expect(dated).toBe(phone.server.now - day);
  });
});

describe('A phone whose clock is wrong', () => {
  it.each([3, 31, 400])(
    'warns if the clock is %d days ahead, and registers once the clock is right',
    async (days) => {
      const { server, knobs, registrar } = await createPhone();
      server.verdictOn = ({ registration }) =>
        Number(registration.timestamp) * 1000 > server.now + day ? 'BAD_REQUEST' : null;
      knobs.clockErrorMilliseconds = days * day;
      await expect(registrar.sync()).resolves.toMatchObject({
        code: 'clock-wrong',
        errorCode: 'BAD_REQUEST',
        warning: expect.stringContaining("and the phone's clock says"),
      });
      expect(server.registrations).toHaveLength(1);
      knobs.clockErrorMilliseconds = 0;
      await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
      expect(Number(server.lastRegistration.registration.timestamp) * 1000).toBe(server.now);
    },
  );

  it.each([-1, 1])('registers with the server’s time if the clock is off by a day (%d)', async (days) => {
    const { server, knobs, registrar } = await createPhone();
    knobs.clockErrorMilliseconds = days * (day - 1000);
    const status = await registrar.sync();
    expect(status).toMatchObject({ code: 'active' });
    expect(status.warning).toBeUndefined();
    expect(Number(server.lastRegistration.registration.timestamp) * 1000).toBe(server.now);
  });

  it.each([-3, -400])('warns if the clock is %d days behind, after one registration', async (days) => {
    const { server, knobs, registrar } = await createPhone();
    knobs.clockErrorMilliseconds = days * day;
    await expect(registrar.sync()).resolves.toMatchObject({
      code: 'clock-wrong',
      sentence: expect.stringContaining('set date and time automatically'),
      errorCode: 'REQUEST_EXPIRED',
      warning: expect.stringContaining("The server's clock says Fri, 20 Nov 2026 12:00:00 GMT"),
    });
    expect(server.registrations).toHaveLength(1);
    knobs.clockErrorMilliseconds = 0;
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'active' });
  });

  it.each([
    [-2, 'active'],
    [-6, 'active'],
    [-8, 'clock-wrong'],
  ])(
    'and is %d days off gets the status %s if the phone follows a signed list issued today',
    async (days, code) => {
      const { publish, registrar, server, knobs } = await createFollowingPhone();
      publish();
      knobs.clockErrorMilliseconds = days * day;
      await expect(registrar.sync()).resolves.toMatchObject({
        code,
        warning: expect.stringContaining("The server's clock says"),
      });
      if (code === 'active') {
        expect(Number(server.lastRegistration.registration.timestamp) * 1000).toBe(server.now);
      }
    },
  );

  it.each([
    [-3, 'clock-wrong'],
    [-0.9, 'failed'],
  ])(
    'by %d days gets the status %s if the relay refuses the registration for another reason',
    async (days, code) => {
      const { server, knobs, registrar } = await createPhone();
      knobs.clockErrorMilliseconds = days * day;
      server.verdictOn = () => 'BAD_REQUEST';
      await expect(registrar.sync()).resolves.toMatchObject({ code, errorCode: 'BAD_REQUEST' });
    },
  );

  it('reports both the reason for not following a list and the clock difference', async () => {
    const { publish, registrar, server, knobs } = await createFollowingPhone();
    publish();
    knobs.clockErrorMilliseconds = 31 * day;
    expect(server.registrations).toEqual([]);
    const { warning } = await registrar.sync();
    expect(warning).toContain("it has expired. The key in the app is in use. The server's clock says");
  });
});

describe('The sequence of a registration', () => {
  const sequences = ({ server }: Phone) =>
    server.registrations.map(({ registration }) => registration.sequence);

  it('grows with every registration, even if the clock stops or goes back', async () => {
    const phone = await createPhone();
    const start = phone.server.now;
    for (const step of [0, 0, 5000, -day, 0]) {
      phone.server.now += step;
      await registerAgain(phone);
    }
    expect(sequences(phone)).toEqual([start, start + 1, start + 5000, start + 5001, start + 5002]);
  });

  it('is stored before the registration is sent, so that it is never reused', async () => {
    const accounts = createMemoryPushAccountStore();
    const { server, registrar } = await createPhone({ accounts });
    server.overrides.set('/api/v1/mobile_push/register', () => Promise.reject(new TypeError('cut off')));
    await expect(registrar.sync()).resolves.toMatchObject({ code: 'unreachable' });
    expect(await accounts.list()).toMatchObject([{ sequence: server.now }]);
    server.overrides.clear();
    await registrar.sync();
    expect(server.lastRegistration.registration.sequence).toBe(server.now + 1);
  });

  it('continues after a restart of the app', async () => {
    const first = await createPhone();
    await first.registrar.sync();
    const [account] = await first.accounts.list();
    if (account === undefined) throw new Error('no account was made');
    const accounts = createMemoryPushAccountStore();
    await accounts.put(decodePushAccount(encodePushAccount(account)));
    const phone = await createPhone({ accounts });
    await registerAgain(phone);
    expect(phone.server.lastRegistration.registration.sequence).toBe(first.server.now + 1);
  });
});
