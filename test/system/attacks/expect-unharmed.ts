import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import type { Holdings } from './process-probe.js';

const warmingRequests = 40;
const measuredRequests = 120;
/** Of each kind of refusal, so that the dozen of floods in this folder are a hundred thousand in all. */
const leastFloodRequests = 8500;
const measurements = 3;
const mostMilliseconds = 200;
const mostSlowdown = 2;
const recoveryMilliseconds = 30_000;
/** Memory may be a fifth more than before, and these bytes, by which a heap of such a size varies. */
const memoryGrowth = 1.2;
const memorySlackBytes = 16 * 1024 * 1024;

/**
 * Has the target attacked, measures an honest user's requests in the midst of it, and expects them answered, 99 of 100
 * of them soon; then that the target gives back all that the attack made it take.
 *
 * The machine is shared: the bound is as many times longer as the target takes longer because others use its cores.
 * Where that is more than twice, how soon is not judged any more, only that everything is answered. What failed or was
 * too slow is measured again, three times in all, since a stall that is not the attack's passes.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  // What it needs for them anyway is no growth.
  await experience(target.honest, warmingRequests);
  const before = await target.probe.look();
  const attacker = new Attacker(attack);
  try {
    await attacker.inForce();
    let measured = await experienceOf(target);
    for (let again = 1; again < measurements && !isWell(measured); again++) {
      measured = await experienceOf(target);
    }
    expect(measured.failures, JSON.stringify(measured)).toEqual({});
    expect(measured.p99Milliseconds, JSON.stringify(measured)).toBeLessThan(measured.mostMilliseconds);
    if (attack.kind === 'cut') await attacker.over();
    if (attack.kind === 'flood') await attacker.made(leastFloodRequests);
    expect(attacker.report.done).toBeGreaterThan(0);
  } finally {
    await attacker.stop();
  }
  await expectGivenBack(target, before);
}

interface Measured extends Experience {
  readonly mostMilliseconds: number;
}

async function experienceOf({ honest, probe }: Target): Promise<Measured> {
  const endOfMeasurement = probe.slowdown();
  const experienced = await experience(honest, measuredRequests);
  const slowdown = endOfMeasurement();
  const most = slowdown > mostSlowdown ? Number.POSITIVE_INFINITY : Math.round(mostMilliseconds * slowdown);
  return { ...experienced, mostMilliseconds: most };
}

function isWell({ failures, p99Milliseconds, mostMilliseconds: most }: Measured): boolean {
  return Object.keys(failures).length === 0 && p99Milliseconds < most;
}

async function expectGivenBack({ probe }: Target, before: Holdings): Promise<void> {
  const excess = (now: number, then: number): number =>
    Math.max(0, Math.round(now - then * memoryGrowth - memorySlackBytes));
  const held = async () => {
    const { residentBytes, heapBytes, ...counts } = await probe.look();
    return {
      ...counts,
      residentBytesTooMany: excess(residentBytes, before.residentBytes),
      heapBytesTooMany: excess(heapBytes, before.heapBytes),
    };
  };
  await expect.poll(held, { timeout: recoveryMilliseconds, interval: 200 }).toEqual({
    connections: 0,
    requestsInFlight: 0,
    bodyBytesInFlight: 0,
    residentBytesTooMany: 0,
    heapBytesTooMany: 0,
  });
}
