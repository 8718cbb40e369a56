import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import type { Holdings } from './process-probe.js';

const measuredRequests = 120;
const measurements = 3;
const mostMilliseconds = 200;
const recoveryMilliseconds = 30_000;
/** Memory may be a fifth more than before, and these bytes, by which a heap of such a size varies. */
const memoryGrowth = 1.2;
const memorySlackBytes = 16 * 1024 * 1024;

/**
 * Has the target attacked, measures an honest user's requests in the midst of it, and expects them answered, 99 of 100
 * of them soon; then that the target gives back all that the attack made it take.
 *
 * What the machine takes for the same requests without an attack comes on top, since others use it as well; and what
 * failed or was too slow is measured again, three times in all, since a stall that is not the attack's passes.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  const quiet = await experience(target.honest, measuredRequests / 2);
  const before = await target.probe.look();
  const mostPatient = mostMilliseconds + quiet.p99Milliseconds;
  const attacker = new Attacker(attack);
  try {
    await attacker.inForce();
    let measured = await experience(target.honest, measuredRequests);
    for (let again = 1; again < measurements && !isWell(measured, mostPatient); again++) {
      measured = await experience(target.honest, measuredRequests);
    }
    expect(measured.failures, JSON.stringify({ measured, quiet })).toEqual({});
    expect(measured.p99Milliseconds, JSON.stringify({ measured, quiet })).toBeLessThan(mostPatient);
    if (attack.kind === 'cut') await attacker.over();
    expect(attacker.report.done).toBeGreaterThan(0);
  } finally {
    await attacker.stop();
  }
  await expectGivenBack(target, before);
}

function isWell({ failures, p99Milliseconds }: Experience, mostPatient: number): boolean {
  return Object.keys(failures).length === 0 && p99Milliseconds < mostPatient;
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
