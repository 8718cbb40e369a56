import { randomInt } from 'node:crypto';
import { Secret } from '@waxwing/service/config';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const length = 32;

/** Generates an API key: 32 letters and digits (190 random bits), the format that stock clients accept. */
export function generateApiKey(): Secret<string> {
  return new Secret(Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join(''));
}
