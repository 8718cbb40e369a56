import type { RegistrationVector } from '../../support/protocol-vectors.js';
import {
  acceptedFcm,
  fcmPlaintext,
  fcmToken,
  nowSeconds,
  refused,
  sealedVector,
} from './registration-case.js';

const encoder = new TextEncoder();
const good = fcmPlaintext();

/** Returns boxes that open, but do not contain the JSON object of a registration. */
export function jsonCases(): RegistrationVector[] {
  return [...encodingCases(), ...syntaxCases(), ...tolerantCases()];
}

function encodingCases(): RegistrationVector[] {
  const bytesWithToken = (...bytes: number[]) => {
    const [before = '', after = ''] = good.split(fcmToken);
    return new Uint8Array([...encoder.encode(before), ...bytes, ...encoder.encode(after)]);
  };
  const plaintexts: [string, Uint8Array][] = [
    ['byte order mark', new Uint8Array([0xef, 0xbb, 0xbf, ...encoder.encode(good)])],
    ['byte that UTF-8 never has', bytesWithToken(0x61, 0xff)],
    ['Latin-1', bytesWithToken(0x61, 0xe9)],
    ['overlong UTF-8', bytesWithToken(0x61, 0xc1, 0xa1)],
    ['UTF-8 of a surrogate', bytesWithToken(0x61, 0xed, 0xa0, 0x80)],
    ['UTF-8 cut off', encoder.encode('{"token":"é').slice(0, -1)],
    ['UTF-16', new Uint8Array(Buffer.from(good, 'utf16le'))],
  ];
  return plaintexts.map(([name, bytes]) => sealedVector(`not UTF-8 JSON: ${name}`, bytes, refused()));
}

function syntaxCases(): RegistrationVector[] {
  const plaintexts: [string, string][] = [
    ['array', `[${good}]`],
    ['string', JSON.stringify(good)],
    ['number', String(nowSeconds)],
    ['null', 'null'],
    ['true', 'true'],
    ['empty object', '{}'],
    ['whitespace alone', ' '],
    ['plain text', 'token_kind=fcm'],
    ['trailing garbage', `${good}x`],
    ['trailing NUL', `${good}\0`],
    ['two objects', `${good}${good}`],
    ['cut off', good.slice(0, -1)],
    ['trailing comma', good.replace('}', ',}')],
    ['single quotes', good.replaceAll('"', "'")],
    ['comment', `/* */${good}`],
    ['control character in a string', good.replace(fcmToken, 'a\nb')],
    ['no-break space around', `\u00a0${good}`],
    ['everything under __proto__', `{"__proto__":${good}}`],
  ];
  return plaintexts.map(([name, plaintext]) => sealedVector(`JSON: ${name}`, plaintext, refused()));
}

function tolerantCases(): RegistrationVector[] {
  const twice = good.replace('"token":', '"token":"an-earlier-token","token":');
  const unknown = good.replace('}', ',"app_version":"1.2","nested":{"token_kind":"apns"},"list":[null]}');
  return [
    sealedVector(
      'JSON: whitespace around and inside',
      ` \r\n\t${good.replaceAll(',', ' ,\n')}\n`,
      acceptedFcm(),
    ),
    sealedVector('JSON: unknown fields', unknown, acceptedFcm(), { note: 'unknown fields are ignored' }),
    sealedVector('JSON: a field twice', twice, acceptedFcm(), { note: 'the last one wins' }),
    sealedVector('JSON: escaped letters', good.replace('fcm-', '\\u0066cm-'), acceptedFcm()),
    sealedVector('JSON: fields in another order', reordered, acceptedFcm()),
  ];
}

const reordered = `{"ios_app_id":null,"timestamp":${nowSeconds},"token":"${fcmToken}","token_kind":"fcm"}`;
