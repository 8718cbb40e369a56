import type { RegistrationVector } from '../../support/protocol-vectors.js';
import {
  acceptedFcm,
  apnsPlaintext,
  fcmPlaintext,
  nowSeconds,
  refused,
  sealedVector,
} from './registration-case.js';

const livenessTimeoutSeconds = 86_400;

/**
 * Returns registrations with various values of `timestamp`: different ages, and spellings of an integer that stock
 * relays accept or refuse.
 */
export function timestampCases(): RegistrationVector[] {
  return [...ageCases(), ...lenientCases(), ...malformedCases(), ...orderCases()];
}

/** Returns a valid registration with this JSON text as the timestamp. */
function withTimestamp(literal: string): string {
  return fcmPlaintext().replace(String(nowSeconds), literal);
}

function ageCases(): RegistrationVector[] {
  const ages: [string, number][] = [
    ['just now', 0],
    ['on the last second', livenessTimeoutSeconds],
    ['expired by a second', livenessTimeoutSeconds + 1],
    ['expired by a year', 365 * 86_400],
    ['a second in the future', -1],
    ['as far in the future as a registration lives', -livenessTimeoutSeconds],
    ['a second further in the future', -livenessTimeoutSeconds - 1],
    ['a year in the future', -365 * 86_400],
  ];
  return ages.map(([name, ageSeconds]) =>
    sealedVector(
      `timestamp: ${name}`,
      withTimestamp(String(nowSeconds - ageSeconds)),
      expectedAt(ageSeconds),
      { age_seconds: ageSeconds },
    ),
  );
}

function expectedAt(ageSeconds: number): RegistrationVector['expect'] {
  if (ageSeconds > livenessTimeoutSeconds) return refused('REQUEST_EXPIRED');
  return ageSeconds < -livenessTimeoutSeconds ? refused() : acceptedFcm();
}

function lenientCases(): RegistrationVector[] {
  const expired: [string, string][] = [
    ['1.0', '1.0'],
    ['numeric text', '"1700000000"'],
    ['numeric text with spaces', '" 12 "'],
    ['numeric text with a zero fraction', '"1.0"'],
    ['true', 'true'],
    ['false', 'false'],
    ['zero', '0'],
    ['negative', '-1'],
    ['negative text', '"-1"'],
  ];
  const fresh: [string, string][] = [
    ['whole number with a zero fraction', `${nowSeconds}.0`],
    ['text', `"${nowSeconds}"`],
    ['text with spaces', `" ${nowSeconds} "`],
  ];
  return [
    ...expired.map(([name, literal]) =>
      sealedVector(`timestamp, long ago: ${name}`, withTimestamp(literal), refused('REQUEST_EXPIRED')),
    ),
    ...fresh.map(([name, literal]) =>
      sealedVector(`timestamp, fresh: ${name}`, withTimestamp(literal), acceptedFcm()),
    ),
    sealedVector(
      'timestamp, in the future: far beyond 64 bits',
      withTimestamp(`1${'0'.repeat(30)}`),
      refused(),
    ),
  ];
}

function malformedCases(): RegistrationVector[] {
  const literals: [string, string][] = [
    ['fraction', '1.5'],
    ['fraction of the present second', `${nowSeconds}.5`],
    ['null', 'null'],
    ['text with an exponent', '"1e3"'],
    ['text with a fraction', `"${nowSeconds}.5"`],
    ['hexadecimal text', '"0x69b3"'],
    ['empty text', '""'],
    ['text of spaces', '"  "'],
    ['date', '"2026-03-12T07:20:00Z"'],
    ['NaN', 'NaN'],
    ['beyond what a double holds', '1e400'],
    ['array', `[${nowSeconds}]`],
    ['object', '{}'],
  ];
  const missing = fcmPlaintext().replace(/,"timestamp":\d+/, '');
  return [
    ...literals.map(([name, literal]) =>
      sealedVector(`timestamp, malformed: ${name}`, withTimestamp(literal), refused()),
    ),
    sealedVector('timestamp, malformed: missing', missing, refused()),
  ];
}

function orderCases(): RegistrationVector[] {
  const longAgo = (plaintext: string) => plaintext.replace(String(nowSeconds), '1');
  const note = 'the form is checked before the age';
  return [
    sealedVector(
      'expired, and the token_kind unknown',
      longAgo(fcmPlaintext()).replace('"fcm"', '"wns"'),
      refused(),
      {
        note,
      },
    ),
    sealedVector('expired, and no hexadecimal token', longAgo(apnsPlaintext('no-hex')), refused(), { note }),
  ];
}
