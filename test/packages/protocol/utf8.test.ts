import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeUtf8 } from '#protocol/utf8.js';
import fc from '../../support/fast-check.js';

const platform = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function byPlatform(bytes: Uint8Array): string | undefined {
  try {
    return platform.decode(bytes);
  } catch {
    // The bytes are not valid UTF-8.
    return undefined;
  }
}

// Cases in which lenient decoders differ: overlong forms, surrogates, code points above U+10FFFF, truncated sequences,
// and a byte order mark.
const awkward = ['c080', 'e0809f', 'eda080', 'f4908080', 'f09f98', '80', 'ff', 'efbbbf7b7d', 'f09f9880', ''];

describe.each(['with TextDecoder', 'without TextDecoder'])('UTF-8 %s', (platformName) => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is decoded as strictly as by the platform', () => {
    if (platformName !== 'with TextDecoder') vi.stubGlobal('TextDecoder', undefined);
    const valid = fc.string({ unit: 'grapheme' }).map((text) => new TextEncoder().encode(text));
    const cut = fc.tuple(valid, fc.nat({ max: 8 })).map(([bytes, start]) => bytes.subarray(start));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 12 }), valid, cut), (bytes) => {
        expect(decodeUtf8(bytes)).toBe(byPlatform(bytes));
      }),
    );
    for (const hex of awkward) {
      const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
      expect(decodeUtf8(bytes)).toBe(byPlatform(bytes));
    }
  });
});
