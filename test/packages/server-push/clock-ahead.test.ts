import { afterEach, beforeEach, expect, it } from 'vitest';
import { compareDates } from '#server-push/registrations/compare-dates.js';
import { userId as user } from '../../support/ids.js';
import { PushServer, tokenIdOf } from '../../support/push-server.js';
import { eachBackend } from '../../support/test-databases.js';

const ada = user(7);
const day = 86_400_000;
const token = tokenIdOf('token');

it.each([
  ['both in the past', -2, -1, 'other'],
  ['the first now', 0, -1, 'one'],
  ['the first a day ahead', day, -1, 'other'],
  ['the other a day ahead', -day, day, 'one'],
  ['both ahead', 2 * day, day, 'one'],
  ['the first a few seconds ahead, as in another process', 5000, 0, 'one'],
] as const)('compareDates finds the later of two registrations: %s', (_, one, other, later) => {
  const now = 1_773_000_000_000;
  const order = compareDates(now + one, now + other, now);
  expect(order > 0 ? 'one' : 'other').toBe(later);
  expect(Math.sign(compareDates(now + other, now + one, now))).toBe(-Math.sign(order));
});

eachBackend((backend) => {
  let server: PushServer;
  beforeEach(async () => {
    server = await PushServer.start(backend);
  });
  afterEach(() => server.close());

  const tokens = async () =>
    Object.values(await server.push.clientDevicesOf(ada)).map((device) => device.push_token_id);
  const accounts = async () => Object.keys(await server.push.pushDevicesOf(ada));

  it.each([
    ['ahead', -day],
    ['right', 1],
    ['behind', day],
  ])('the later device keeps the token if the clock was %s at the first registration', async (_, change) => {
    await server.activeDevice(ada, 'token', 1);
    server.now += change;
    await server.activeDevice(ada, 'token', 2);
    expect(await tokens()).toEqual([null, token]);
  });

  it.each([
    ['ahead', -day],
    ['right', 1],
    ['behind', day],
  ])(
    'the later account of a phone stays if the clock was %s at the first registration',
    async (_, change) => {
      await server.activeAccount(ada, '5');
      server.now += change;
      server.relay.around = (_request, react) => {
        const reaction = react();
        if (typeof reaction === 'string') return reaction;
        return { ...reaction, body: { ...(reaction.body as object), same_token_push_account_ids: [5] } };
      };
      await server.activeAccount(ada, '6');
      expect(await accounts()).toEqual(['6']);
    },
  );

  it.each([
    ['ahead', -day],
    ['right', 1],
    ['behind', day],
  ])(
    'the newer generation replaces the older if the clock was %s at the older registration',
    async (_, change) => {
      await server.activeAccount(ada, '5');
      server.now += change;
      server.relay.accountsOfToken.set(token, [5]);
      await server.activeDevice(ada, 'token', 1);
      expect([await accounts(), await tokens()]).toEqual([[], [token]]);
    },
  );
});
