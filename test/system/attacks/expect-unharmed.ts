import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { type Experience, experience } from './honest-user.js';
import { besides, complaintsOf, measureAttack, measureService } from './measure-attack.js';
import { gateScale } from './scale.js';

/**
 * Attacks the target, and checks three things: an honest user's requests are answered meanwhile, 99 of 100 of them
 * soon; the attackers get the right answers; and afterwards the target has released everything that the attack made it
 * use.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  const harm = await measureAttack(target, attack, gateScale);
  expect(harm.complaints, JSON.stringify(harm)).toEqual([]);
}

/**
 * Attacks the target once without measuring, until each kind of request was answered and none is in flight. SQLite's page
 * caches and the memory allocator grow in the first such attack, and hardly in later ones.
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

/** A few of each kind; the slowest one stands for the p99. */
const servedRequests = 20;

/** An honest user's experience without an attack. */
export const experienceOf = ({ honest }: Target): Promise<Experience> => experience(honest, servedRequests);

/**
 * Expects that an honest user's requests are answered, 99 of 100 of them soon compared with the time without an attack.
 */
export async function expectServed(target: Target, unattacked: Experience): Promise<void> {
  const measured = besides(await measureService(target, servedRequests), unattacked);
  expect(complaintsOf(measured), JSON.stringify(measured)).toEqual([]);
}
