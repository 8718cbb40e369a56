import { afterAll, beforeAll, expect, it } from 'vitest';
import { seededRandom } from '../crash/seeded-random.js';
import { Fleet } from './fleet.js';

const seed = 20_261_126;
const stepHours = 8;
const steps = (7 * 24) / stepHours;
/** Shorter than a day, after which the server gives a notification up. */
const longestOutage = 2;
const rotatesAt = 6;
const revokesAt = 13;
let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.create({ random: seededRandom(seed), usersPerServer: 3 });
});
afterAll(() => fleet.world.close());

it('both generations at two servers, a week long: nothing is lost, shown twice or stuck', async () => {
  const { world, stock } = fleet;
  const random = seededRandom(seed + 1);
  for (const phone of fleet.phones) await fleet.signIn(phone);
  await fleet.settle();
  expect(fleet.phones.map(({ app }) => app.isSettled)).not.toContain(false);
  let outage = 0;
  for (let step = 0; step < steps; step += 1) {
    outage = world.isRelayRunning ? 0 : outage + 1;
    if (outage === 0 && random() < 0.25) await fleet.beginOutage();
    else if (outage === longestOutage || (outage > 0 && random() < 0.5)) await fleet.endOutage();
    if (step === rotatesAt || step === revokesAt) await fleet.changeKeys({ revokes: step === revokesAt });
    await fleet.use(stepHours);
    await fleet.settle();
    await stock.reportHourly();
  }
  if (!world.isRelayRunning) await fleet.endOutage();
  // The server asks a relay that was away again after an hour at the latest.
  for (let hours = 0; hours < 3; hours += 1) {
    world.time.ahead += 3_600_000;
    for (const phone of fleet.phones) await (phone.isSignedIn ? phone.app.start() : fleet.signIn(phone));
    await fleet.settle();
  }
  const stuck = fleet.phones
    .filter(({ app }) => app.isPending || !app.isSettled)
    .map(({ app }) => app.phone.token);
  for (const user of fleet.users) await fleet.notify(user);
  await fleet.settle();

  const { lost, twice, expected } = fleet.unfulfilled();
  const { afterLogout } = fleet;
  expect({ stuck, lost, twice, afterLogout }).toEqual({ stuck: [], lost: [], twice: [], afterLogout: [] });
  expect(expected).toBeGreaterThan(steps);
  expect(fleet.freed).toBeGreaterThan(0);
  await stock.reportHourly();
  expect(stock.isPushOn).toBe(true);
}, 240_000);
