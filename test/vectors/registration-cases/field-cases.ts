import type { RegistrationVector } from '../../support/protocol-vectors.js';
import {
  acceptedApns,
  acceptedFcm,
  apnsPlaintext,
  fcmPlaintext,
  fcmToken,
  iosAppId,
  nowSeconds,
  refused,
  sealedVector,
} from './registration-case.js';

const longestTokenCodePoints = 4096;

/** Returns registrations with various values of `token`, `token_kind` and `ios_app_id`. */
export function fieldCases(): RegistrationVector[] {
  return [...tokenKindCases(), ...iosAppIdCases(), ...tokenCases(), ...apnsTokenCases(), ...lengthCases()];
}

function tokenKindCases(): RegistrationVector[] {
  const kinds: [string, unknown][] = [
    ['unknown', 'wns'],
    ['upper case', 'FCM'],
    ['space after it', 'fcm '],
    ['empty', ''],
    ['number of the older generation', 2],
    ['null', null],
    ['array', ['fcm']],
    ['missing', undefined],
  ];
  return kinds.map(([name, kind]) =>
    sealedVector(
      `token_kind: ${name}`,
      JSON.stringify({ token_kind: kind, token: fcmToken, timestamp: nowSeconds }),
      refused(),
    ),
  );
}

function iosAppIdCases(): RegistrationVector[] {
  const refusedIds: [string, unknown][] = [
    ['missing for apns', undefined],
    ['null for apns', null],
    ['empty', ''],
    ['underscore', 'org.example_app'],
    ['spaces and signs', '* -- +'],
    ['trailing newline', `${iosAppId}\n`],
    ['leading newline', `\n${iosAppId}`],
    ['second line', `${iosAppId}\norg.example.Other`],
    ['slash', 'org.example/App'],
    ['letter outside ASCII', 'org.exämple.App'],
    ['full-width letter', 'org.example.Ａpp'],
    ['number', 7],
    ['array', [iosAppId]],
  ];
  const withFcm = (id: unknown) => fcmPlaintext().replace('}', `,"ios_app_id":${JSON.stringify(id)}}`);
  return [
    ...refusedIds.map(([name, id]) =>
      sealedVector(
        `ios_app_id: ${name}`,
        JSON.stringify({
          token_kind: 'apns',
          token: 'c0ffee',
          timestamp: nowSeconds,
          ios_app_id: id,
        }),
        refused(),
      ),
    ),
    sealedVector('ios_app_id: present for fcm', withFcm(iosAppId), refused()),
    sealedVector('ios_app_id: empty for fcm', withFcm(''), refused(), {
      note: 'must be null or absent',
    }),
    sealedVector('ios_app_id: null for fcm', withFcm(null), acceptedFcm()),
    sealedVector('ios_app_id: every permitted kind of character', apnsPlaintext('c0ffee', '.a-Z.09-'), {
      ok: { token: 'c0ffee', token_kind: 'apns', ios_app_id: '.a-Z.09-' },
    }),
  ];
}

function tokenCases(): RegistrationVector[] {
  const tokens: [string, string][] = [
    ['empty', '""'],
    ['number', '12'],
    ['null', 'null'],
    ['array', '["a"]'],
  ];
  const loneSurrogate = 'not Unicode text, so no program can pass it on unchanged';
  const nul = 'no vendor issues one, and PostgreSQL cannot store it';
  return [
    ...tokens.map(([name, literal]) =>
      sealedVector(`token: ${name}`, fcmPlaintext().replace(`"${fcmToken}"`, literal), refused()),
    ),
    sealedVector('token: missing', JSON.stringify({ token_kind: 'fcm', timestamp: nowSeconds }), refused()),
    sealedVector('token: lone surrogate', fcmPlaintext().replace(fcmToken, 'a\\ud800b'), refused(), {
      note: loneSurrogate,
    }),
    sealedVector('token: NUL', fcmPlaintext().replace(fcmToken, 'a\\u0000b'), refused(), { note: nul }),
    sealedVector('token: one character', fcmPlaintext('x'), acceptedFcm('x')),
    sealedVector('token: not ASCII', fcmPlaintext('жетон 😀'), acceptedFcm('жетон 😀')),
  ];
}

function apnsTokenCases(): RegistrationVector[] {
  const refusedTokens: [string, string][] = [
    ['letters that are no digits', 'xyz non-hex characters'],
    ['odd number of digits', 'c0ffe'],
    ['one digit', 'c'],
    ['full-width digits', '１２'],
    ['Arabic-Indic digits', '٠١'],
    ['0x in front', '0xc0ffee'],
    ['space inside a byte', 'c 0ffee'],
    ['newline inside a byte', 'c0f\nfee'],
    ['no-break space between bytes', 'c0\u00a0ff'],
    ['colons between bytes', 'c0:ff:ee'],
    ['path', '../c0ffee'],
    ['empty', ''],
  ];
  const acceptedTokens: [string, string][] = [
    ['lower case', 'c0ffee'],
    ['upper case', 'C0FFEE'],
    ['mixed case', 'C0ffEe'],
    ['whitespace between bytes', 'c0 ff\tee\r\n00'],
    ['whitespace at both ends', ' c0ffee\n'],
  ];
  return [
    ...refusedTokens.map(([name, token]) =>
      sealedVector(`apns token: ${name}`, apnsPlaintext(token), refused()),
    ),
    ...acceptedTokens.map(([name, token]) =>
      sealedVector(`apns token: ${name}`, apnsPlaintext(token), acceptedApns(token), {
        note: 'kept unchanged',
      }),
    ),
  ];
}

function lengthCases(): RegistrationVector[] {
  const ascii = 'x'.repeat(longestTokenCodePoints);
  const astral = '😀'.repeat(longestTokenCodePoints);
  const astralEscaped = fcmPlaintext('T').replace(
    '"T"',
    `"${'\\ud83d\\ude00'.repeat(longestTokenCodePoints)}"`,
  );
  const apns = 'ab'.repeat(longestTokenCodePoints / 2);
  const padded = fcmPlaintext().replace('}', `,"padding":"${'x'.repeat(60_000)}"}`);
  const longest = 'the longest registration that must pass: 4096 code points, each written in 12 bytes';
  return [
    sealedVector('token: 4096 characters', fcmPlaintext(ascii), acceptedFcm(ascii)),
    sealedVector('token: 4097 characters', fcmPlaintext(`${ascii}x`), refused()),
    sealedVector('token: 4096 astral characters, escaped', astralEscaped, acceptedFcm(astral), {
      note: longest,
    }),
    sealedVector('token: 4097 astral characters', fcmPlaintext(`${astral}😀`), refused(), {
      note: 'the limit counts code points, not UTF-16 units and not bytes',
    }),
    sealedVector('apns token: 4096 digits', apnsPlaintext(apns), acceptedApns(apns)),
    sealedVector('apns token: 4098 digits', apnsPlaintext(`${apns}ab`), refused()),
    sealedVector('huge', padded, refused(), {
      note: 'a valid registration except for its size: 80 thousand characters, within the body limit of 128 KiB',
    }),
  ];
}
