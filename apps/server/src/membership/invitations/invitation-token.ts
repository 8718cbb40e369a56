import { randomInt } from 'node:crypto';
import { Secret } from '@waxwing/service/config';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
const length = 24;
const shape = new RegExp(`^[a-z2-7]{${length}}$`);

/** Generates a token with 120 random bits for an invitation link. */
export function newInvitationToken(): Secret<string> {
  return new Secret(Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join(''));
}

/** Returns whether a string has the format of an invitation token. */
export function isInvitationToken(text: string): boolean {
  return shape.test(text);
}
