import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import { besides, complaintsOf, measureAttack, measureService } from './measure-attack.js';
import { gateScale } from './scale.js';

/**
 * Attacks the target, and checks three things. During the attack, an honest user's requests are answered, 99 of 100 of
 * them quickly. The attackers get the right answers. Afterwards, the target has released all resources that the attack
 * made it use.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  const harm = await measureAttack(target, attack, gateScale);
  expect(harm.complaints, JSON.stringify(harm)).toEqual([]);
}

/**
 * Attacks the target once without measuring, until each kind of request has been answered and none is in flight.
 * SQLite's page caches and the memory allocator grow in the first such attack, and hardly in later ones.
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

/** A few requests of each kind. The slowest one stands for the p99. */
const servedRequests = 20;

/** An honest user's experience without an attack. */
export const experienceOf = ({ honest }: Target): Promise<Experience> => experience(honest, servedRequests);

/**
 * Expects that an honest user's requests are answered, and that their p99 latency is close to the latency without an
 * attack.
 */
export async function expectServed(target: Target, unattacked: Experience): Promise<void> {
  const measured = besides(await measureService(target, servedRequests), unattacked);
  expect(complaintsOf(measured), JSON.stringify(measured)).toEqual([]);
}
