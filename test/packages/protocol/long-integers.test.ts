import { parseJson } from '@waxwing/protocol';
import { isInteger, parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import fc from '../../support/fast-check.js';

/** Parses the text with an independent library, digit by digit. */
function oracle(text: string): unknown {
  return parse(text, null, (digits) => {
    const value = Number(digits);
    return isInteger(digits) && !/[.eE]/.test(digits) && !Number.isSafeInteger(value)
      ? BigInt(digits)
      : value;
  });
}

const long = '12345678901234567890';

describe('JSON with integers that a double would round', () => {
  it.each([
    long,
    `-${long}`,
    ` ${long}\n`,
    `[${long},-${long} , 9007199254740991,9007199254740992]`,
    `{"a":${long},"b":{"c": [ ${long} ]},"d":"${long}"}`,
    `{"a":"\\"${long}","b\\\\":${long},"c":"\\\\\\",${long},"}`,
    `{"a":"[${long}]","b":": ${long},"}`,
    `[1234567890123456.5,1e20,0.${long},-0.${long},${long}e2,${long}.5,1e-${'0'.repeat(16)}1]`,
    `{"escaped":"\\u007f${long}","a":${long}}`,
    `{"raw":"\u007f${long}","a":${long}}`,
    `{"beyond Latin-1":"\ue000","a":${long}}`,
    `{"${long}":${long}}`,
  ])('is read without rounding: %s', (text) => {
    expect(parseJson(text)).toEqual(oracle(text));
  });

  it('is read with rounding for integers of more than 40 digits, which no id has', () => {
    const digits = '9'.repeat(41);
    expect(parseJson(`[${digits.slice(1)},${digits},-${digits}]`)).toEqual([
      BigInt(digits.slice(1)),
      1e41,
      -1e41,
    ]);
  });

  it('keeps an own property named __proto__, and changes no prototype', () => {
    const parsed = parseJson(`{"__proto__":${long}}`) as object;
    expect(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value).toBe(BigInt(long));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });

  it.each([
    `{${long}:1}`,
    `[0${long}]`,
    `[--${long}]`,
    `[+${long}]`,
    `[${long} ${long}]`,
    `["a"${long}]`,
    `[${long}"a"]`,
    `{"a":${long}`,
    `"${long}`,
    `[${long}\u00a0]`,
    `[0x${long}]`,
    `[${long}n]`,
    `${long},`,
    `{"a",${long}}`,
    '['.repeat(200_000) + long,
  ])('is rejected if it is malformed: %.40s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('is read exactly as by the other parser', () => {
    const leaf = fc.oneof(
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
      fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
      fc.constantFrom(`"\\"${long}"`, `"\\\\"`, 'null', 'true', `":${long},"`),
    );
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('json')).map((items) => `[${items.join(' ,')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie('json')), { selector: ([name]) => name })
          .map(
            (fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)} : ${value}`).join(',')}}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(json, (text) => {
        expect(parseJson(text)).toEqual(oracle(text));
      }),
      { numRuns: 2000 },
    );
  });
});
