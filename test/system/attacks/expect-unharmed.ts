import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import { besides, complaintsOf, measureAttack, measureService } from './measure-attack.js';
import { gateScale } from './scale.js';

/**
 * Attacks the target, and checks three things. During the attack, all of an honest user's requests succeed, 99 of 100
 * of them quickly. The attackers get the expected responses. Afterwards, the target has released all resources that the
 * attack used.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  const harm = await measureAttack(target, attack, gateScale);
  expect(harm.complaints, JSON.stringify(harm)).toEqual([]);
}

/**
 * Runs the attack once without measuring, until each kind of request has been answered and no request is in flight.
 * SQLite's page caches and the memory allocator grow during the first such attack, and hardly afterwards.
 */
export async function warmUpBy(target: Target, attack: Attack): Promise<void> {
  const attacker = await Attacker.start(attack);
  try {
    await attacker.over();
  } finally {
    await attacker.stop();
  }
  await expect.poll(async () => (await target.probe.glance()).requestsInFlight).toBe(0);
}

/** Number of requests of each kind: so few that the slowest one counts as the p99. */
const servedRequests = 20;

/** Measures an honest user's requests without an attack. */
export const experienceOf = ({ honest }: Target): Promise<Experience> => experience(honest, servedRequests);

/** Expects that all of an honest user's requests succeed, with a p99 latency close to that without an attack. */
export async function expectServed(target: Target, unattacked: Experience): Promise<void> {
  const measured = besides(await measureService(target, servedRequests), unattacked);
  expect(complaintsOf(measured), JSON.stringify(measured)).toEqual([]);
}
