import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../crash/seeded-random.js';
import { Fleet } from './fleet.js';

const seed = 20_261_126;
const stepHours = 8;
const steps = (7 * 24) / stepHours;
/** Maximum length of an outage in steps. Shorter than a day, because the server drops a notification after a day. */
const longestOutage = 2;
const rotatesAt = 6;
const revokesAt = 13;
const logsOutEvery = 2;
let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.create({ random: seededRandom(seed), usersPerServer: 3 });
});
afterAll(() => fleet.world.close());

it('phones of both generations at two servers lose nothing and show nothing twice in a week of use', async () => {
  const { world, stock } = fleet;
  const random = seededRandom(seed + 1);
  for (const account of fleet.accounts) await fleet.signIn(account);
  await fleet.settle();
  expect(fleet.accounts.map(({ app }) => app.isSettled)).not.toContain(false);
  const logouts = [false, true].flatMap((isOlder) =>
    [false, true].map((isRelayDown) => [isOlder, isRelayDown]),
  );
  let outage = 0;
  for (let step = 0; step < steps; step += 1) {
    outage = world.isRelayRunning ? 0 : outage + 1;
    if (outage === 0 && random() < 0.25) await fleet.beginOutage();
    else if (outage === longestOutage || (outage > 0 && random() < 0.5)) await fleet.endOutage();
    if (step === rotatesAt || step === revokesAt) await fleet.changeKeys({ revokes: step === revokesAt });
    await fleet.use(stepHours);
    await fleet.settle();
    if (world.isRelayRunning && logouts.length > 0 && step % logsOutEvery === 0) {
      const [isOlder = false, isRelayDown = false] = logouts.shift() ?? [];
      await fleet.logOutWhileQueued({ isOlder, isRelayDown });
    }
    await stock.reportHourly();
  }
  expect(logouts).toEqual([]);
  if (!world.isRelayRunning) await fleet.endOutage();
  // The relay may have been down for a second time. The server retries within an hour.
  for (let hours = 0; hours < 3; hours += 1) {
    world.time.ahead += 3_600_000;
    for (const account of fleet.accounts) {
      await (account.isSignedIn ? account.app.start() : fleet.signIn(account));
    }
    await fleet.settle();
  }
  const stuck = fleet.accounts
    .filter(({ app }) => app.isPending || !app.isSettled)
    .map(({ app }) => app.phone.token);
  for (const user of fleet.users) await fleet.notify(user);
  await fleet.settle();

  const { lost, twice, expected } = fleet.unfulfilled();
  const { afterLogout } = fleet;
  expect({ stuck, lost, twice, afterLogout }).toEqual({ stuck: [], lost: [], twice: [], afterLogout: [] });
  expect(expected).toBeGreaterThan(steps);
  // Four logouts, each with one queued notification for each of the phone's two accounts.
  expect(fleet.queuedAtLogout).toBe(8);
  expect(fleet.freed).toBeGreaterThan(0);
  await stock.reportHourly();
  expect(stock.isPushOn).toBe(true);
}, 240_000);
