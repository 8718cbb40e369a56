import { expect } from 'vitest';
import type { Attack } from './attack.js';
import type { Target } from './attack-world.js';
import { type Experience, experience } from './honest-user.js';
import { besides, complaintsOf, measureAttack, measureService } from './measure-attack.js';
import { gateScale } from './scale.js';

/**
 * Has the target attacked, and expects an honest user's requests answered in the midst of it, 99 of 100 of them soon,
 * the attackers' as they should be, and all given back afterwards that the attack made the target take.
 */
export async function expectUnharmed(target: Target, attack: Attack): Promise<void> {
  const harm = await measureAttack(target, attack, gateScale);
  expect(harm.complaints, JSON.stringify(harm)).toEqual([]);
}

/** Each kind a few times; the slowest of them stands for the p99. */
const servedRequests = 20;

/** An honest user's experience without an attack. */
export const experienceOf = ({ honest }: Target): Promise<Experience> => experience(honest, servedRequests);

/** Expects an honest user's requests answered, 99 of 100 of them soon, beside what they took without any attack. */
export async function expectServed(target: Target, unattacked: Experience): Promise<void> {
  const measured = besides(await measureService(target, servedRequests), unattacked);
  expect(complaintsOf(measured), JSON.stringify(measured)).toEqual([]);
}
