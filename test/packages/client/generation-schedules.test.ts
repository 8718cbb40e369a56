import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';
import { day, MortalPhone } from './mortal-phone.js';

/** Ends all failures. Expects the phone to end up with one active device and to have shown each message once. */
async function expectRecovery(phone: MortalPhone) {
  const { server } = phone;
  phone.isOffline = false;
  phone.bringRelayUp();
  await phone.sync();
  // After more than a day, the phone detects that its device is stuck.
  server.now += day + 2000;
  await phone.sync();
  await expect(phone.sync()).resolves.toMatchObject({ code: 'active' });
  phone.notify();
  await phone.deliver();
  expect(phone.complaint()).toBeUndefined();
  expect(phone.devicesWithToken()).toBe(1);
  await expect.poll(() => phone.storage.texts.has('waxwing.forgotten')).toBe(false);
}

interface Case {
  /** Feature level at which the phone registered; `undefined` if it has not registered. */
  readonly from?: number;
  /** Feature level from then on. */
  readonly to: number;
  /** Change to make before the interrupted sync. */
  readonly change?: (phone: MortalPhone) => void;
  /** Whether the phone gets notifications throughout. */
  readonly isCovered: boolean;
}

const cases: readonly (Case & { readonly name: string })[] = [
  { name: 'the first one, with an older server', to: 431, isCovered: false },
  { name: 'the first one, with a newer server', to: 500, isCovered: false },
  { name: 'the first one after an upgrade', from: 431, to: 500, isCovered: true },
  { name: 'the first one after a downgrade', from: 500, to: 431, isCovered: false },
  { name: 'a rotation of the key', from: 500, to: 500, change: wait(30), isCovered: true },
  { name: 'a second rotation of the key', from: 500, to: 500, change: wait(61), isCovered: true },
  { name: 'another token', from: 500, to: 500, change: replaceToken, isCovered: false },
  { name: 'another token and an upgrade', from: 431, to: 500, change: replaceToken, isCovered: false },
  { name: 'a device that is gone', from: 500, to: 500, change: dropDevices, isCovered: false },
  { name: 'a device that is stuck', from: 500, to: 500, change: getStuck, isCovered: false },
];

function wait(days: number) {
  return ({ server }: MortalPhone) => {
    server.now += days * day;
  };
}

function replaceToken(phone: MortalPhone) {
  phone.token += '-and-another';
}

function dropDevices({ server: { clientDevices, userId } }: MortalPhone) {
  for (const id of clientDevices.rows.keys()) clientDevices.remove(userId, id);
}

/** Leaves the token pending, without a request to the relay that could settle it. */
function getStuck({ server }: MortalPhone) {
  const [row] = server.clientDevices.rows.values();
  Object.assign(row ?? {}, { push_token_id: null, pending_push_token_id: 'AAAAAAAAAAE=' });
  server.now += 2 * day;
}

describe('An app that ends before any step of a sync, and starts again', () => {
  it.each(cases)('neither loses nor repeats a message: $name', async ({ from, to, change, isCovered }) => {
    for (let steps = 1, isWhole = false; !isWhole; steps += 1) {
      const phone = new MortalPhone();
      phone.server.featureLevel = from ?? to;
      if (from !== undefined) await phone.sync();
      phone.server.featureLevel = to;
      change?.(phone);
      phone.isCovered = isCovered;
      phone.notify();
      isWhole = (await phone.sync(steps)) !== 'ended';
      phone.notify();
      await expectRecovery(phone);
    }
  });

  it.each([431, 500])('deletes its device at a sign-out: level %d', async (level) => {
    for (let steps = 1, isWhole = false; !isWhole; steps += 1) {
      const phone = new MortalPhone();
      phone.server.featureLevel = level;
      await phone.sync();
      await phone.forget(steps);
      isWhole = phone.steps < steps;
      await phone.forget();
      expect([phone.server.devices.size, phone.server.clientDevices.rows.size]).toEqual([0, 0]);
      expect([...phone.storage.texts.keys()]).toEqual(['waxwing.signed-out']);
      phone.notify();
      await phone.deliver();
      expect(phone.shown.size).toBe(0);
      await expectRecovery(phone);
    }
  });
});

/** Possible actions. Each action also updates what the test expects of the phone. */
const actions: Readonly<Record<string, (phone: MortalPhone, steps: number) => unknown>> = {
  sync: (phone) => phone.sync(),
  'sync, interrupted': (phone, steps) => phone.sync(steps),
  'sync, offline': async (phone) => {
    phone.isOffline = true;
    await phone.sync();
    phone.isOffline = false;
  },
  notify: (phone) => phone.notify(),
  deliver: (phone) => phone.deliver(),
  'an hour': wait(1 / 24),
  'ten days': wait(10),
  'a month': wait(31),
  'another token': (phone) => {
    replaceToken(phone);
    phone.isCovered = false;
  },
  upgrade: ({ server }) => {
    server.featureLevel = 500;
  },
  downgrade: (phone) => {
    if (phone.server.featureLevel < 468) return;
    phone.server.featureLevel = 431;
    phone.isCovered = false;
  },
  'the relay is down': ({ server }) => {
    server.relayIsUp = false;
  },
  'the relay is up': (phone) => phone.bringRelayUp(),
  'the server gives up': ({ server }) => {
    server.clientDevices.jobs = [];
  },
  'the API key changes': (phone) => {
    dropDevices(phone);
    phone.isCovered = false;
  },
  'the relay finds the token dead': (phone) => {
    phone.loseToken();
  },
  'a backup of the server': (phone) => phone.backUpServer(),
  'the backup is restored': (phone) => phone.restoreServer(),
  'sign-out': (phone) => phone.forget(),
  'sign-out, interrupted': (phone, steps) => phone.forget(steps),
  'sign-out, offline': async (phone) => {
    phone.isOffline = true;
    await phone.forget();
    phone.isOffline = false;
  },
};

const schedule = fc.array(
  fc.tuple(fc.constantFrom(...Object.keys(actions)), fc.integer({ min: 1, max: 30 })),
  { maxLength: 30, size: 'max' },
);

it('the phone recovers, and neither repeats nor loses a message, for any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(431, 500), schedule, async (level, steps) => {
      const phone = new MortalPhone();
      phone.server.featureLevel = level;
      for (const [name, count] of steps) {
        await actions[name]?.(phone, count);
        expect(phone.complaint()).toBeUndefined();
        expect(phone.storedKeys()).toBeLessThanOrEqual(4);
      }
      await expectRecovery(phone);
    }),
    { numRuns: 100 },
  );
});
