import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Secret } from '@waxwing/service/config';

/** Length limits of a password in Unicode code points. */
export const passwordLength = { minimum: 8, maximum: 100 } as const;

/** The scrypt cost of new hashes. One hash takes 32 MiB of memory and occupies a thread for about 0.1 s. */
const today: Cost = { logN: 15, r: 8, p: 1 };
const hashBytes = 32;
const saltBytes = 16;

interface Cost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Returns whether a password has an allowed length. */
export function isPasswordLength(text: string): boolean {
  const { length } = [...text];
  return length >= passwordLength.minimum && length <= passwordLength.maximum;
}

/**
 * Hashes a password for storage: `scrypt$log2(N)$r$p$salt$hash`. The parameters are stored so that the cost can be
 * raised later.
 */
export async function hashPassword(password: Secret<string>): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await hashWith(password, salt, today);
  const { logN, r, p } = today;
  return ['scrypt', logN, r, p, salt.toString('base64'), hash.toString('base64')].join('$');
}

const dummyHash = `scrypt$${today.logN}$${today.r}$${today.p}$${'A'.repeat(22)}==$${'A'.repeat(43)}=`;

/**
 * Returns whether `password` matches the stored hash. Takes the same time for a wrong password and for a user without a
 * stored hash (`undefined`).
 */
export async function matchesPassword(
  password: Secret<string>,
  stored: string | undefined,
): Promise<boolean> {
  const [, logN, r, p, salt = '', hash = ''] = (stored ?? dummyHash).split('$');
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) };
  const given = await hashWith(password, Buffer.from(salt, 'base64'), cost);
  return timingSafeEqual(given, Buffer.from(hash, 'base64')) && stored !== undefined;
}

/**
 * Derives the hash of a password after NFKC normalization, because keyboards may encode the same password
 * differently.
 */
function hashWith(password: Secret<string>, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> {
  const N = 2 ** logN;
  return derive(password.reveal().normalize('NFKC'), salt, hashBytes, { N, r, p, maxmem: 256 * N * r });
}
