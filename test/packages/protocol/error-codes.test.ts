import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, isErrorCode, ProtocolError } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';

const page = readFileSync(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8');
const documented = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| ([a-z-]+) \|/gm)].map((row) => ({
  code: row[1],
  httpStatus: Number(row[2]),
  remedy: row[3],
}));

describe('the error table', () => {
  it('matches the page of error codes, in the same order', () => {
    const table = Object.entries(errorCodes).map(([code, { httpStatus, remedy }]) => ({
      code,
      httpStatus,
      remedy,
    }));
    expect(documented).toEqual(table);
  });

  it('is immutable at run time', () => {
    expect(Object.isFrozen(errorCodes)).toBe(true);
  });

  it('contains its own codes, but no inherited names', () => {
    expect(isErrorCode('REQUEST_EXPIRED')).toBe(true);
    expect(isErrorCode('toString')).toBe(false);
    expect(isErrorCode(undefined)).toBe(false);
  });

  it('provides the default status and message of an error', () => {
    const plain = new ProtocolError('MISSING_REMOTE_REALM');
    expect([plain.httpStatus, plain.message]).toEqual([403, 'Organization not registered']);
    const precise = new ProtocolError('RATE_LIMIT_HIT', {
      httpStatus: 503,
      message: 'full',
      retryAfterSeconds: 3,
    });
    expect([precise.httpStatus, precise.message, precise.retryAfterSeconds]).toEqual([503, 'full', 3]);
  });
});
