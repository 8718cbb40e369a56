import { relayNotifyAnswer, relayRegisterAnswer } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { interpretAnswer } from '#server-push/relay-link/relay-answer.js';
import { relayCodes } from '#server-push/relay-link/relay-codes.js';

const now = Date.UTC(2026, 0, 1);

describe('the relay’s response', () => {
  const read = (status: number, body: unknown, retryAfter?: string) =>
    interpretAnswer({ status, retryAfter, body: JSON.stringify(body) }, relayRegisterAnswer, now);

  it('is accepted if it is a 200 of the right shape, with or without unknown fields', () => {
    const outcome = read(200, { result: 'success', msg: '', device_id: 4, more: 1 });
    expect(outcome).toMatchObject({ kind: 'accepted', answer: { device_id: 4 } });
  });

  it.each([
    [200, { result: 'error' }, 'admin-must-act'],
    [204, {}, 'admin-must-act'],
    [301, {}, 'admin-must-act'],
    [401, { code: 'UNAUTHORIZED' }, 'admin-must-act'],
    [403, {}, 'admin-must-act'],
    [400, { code: 'INVALID_ZULIP_SERVER' }, 'admin-must-act'],
    [429, {}, 'busy'],
    [500, {}, 'relay-error'],
    [599, 'x', 'relay-error'],
    [404, 'not an object', 'admin-must-act'],
  ])('leads to a retry if it is %i %j, because of %s', (status, body, cause) => {
    expect(read(status, body, '9')).toMatchObject({ kind: 'retry', cause, retryAfterSeconds: 9 });
  });

  it('may contain a Retry-After date, which is rounded up to whole seconds', () => {
    const later = interpretAnswer(
      { status: 503, retryAfter: 'Thu, 01 Jan 2026 00:02:00 GMT', body: undefined },
      relayRegisterAnswer,
      now + 400,
    );
    expect(later).toMatchObject({ kind: 'retry', retryAfterSeconds: 120 });
  });

  it('is final if it is a 400 in the protocol’s format, with the default code BAD_REQUEST', () => {
    expect(read(400, { result: 'error', code: 'REQUEST_EXPIRED', msg: 'Request expired' })).toEqual({
      kind: 'refused-for-good',
      code: 'REQUEST_EXPIRED',
      message: 'Request expired',
    });
    for (const code of [undefined, 7, 'not a code', 'lower_case', 'X'.repeat(200)]) {
      const outcome = read(400, { result: 'error', msg: 'no', code });
      expect(outcome).toMatchObject({ kind: 'refused-for-good', code: 'BAD_REQUEST' });
    }
  });

  const statuses = [400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 422, 429, 451, 500, 502, 503];
  const foreignBodies = [
    ['JSON from another service', { error: 'not found' }],
    ['a code without a result', { code: 'BAD_REQUEST', msg: 'no' }],
    ['a result without a message', { result: 'error', code: 'BAD_REQUEST' }],
    ['a success', { result: 'success', msg: '', device_id: 1 }],
    ['a list', []],
    ['text', 'Not Found'],
    ['null', null],
  ] as const;
  it.each(foreignBodies)('is never final if it is %s', (_, body) => {
    for (const status of statuses) expect([status, read(status, body).kind]).toEqual([status, 'retry']);
  });

  it.each(Object.entries(relayCodes))(
    'is final with the code %s only with the status that relays use',
    (code, row) => {
      for (const status of statuses) {
        const isFinal = row.taken === 'final' && row.statuses.includes(status);
        const { kind } = read(status, { result: 'error', msg: 'no', code });
        expect([status, kind]).toEqual([status, isFinal ? 'refused-for-good' : 'retry']);
      }
    },
  );

  it('is final with an unknown code only for a 400', () => {
    for (const status of statuses) {
      const { kind } = read(status, { result: 'error', msg: 'no', code: 'A_NEW_CODE' });
      expect([status, kind]).toEqual([status, status === 400 ? 'refused-for-good' : 'retry']);
    }
  });

  it('cannot break the admin’s log or terminal', () => {
    const outcome = read(401, { result: 'error', msg: `a\u001b[2J\nb${'x'.repeat(1000)}` });
    expect(outcome).toMatchObject({ reason: expect.stringMatching(/^the relay answered 401: a \[2J bx+$/) });
    expect((outcome as { reason: string }).reason.length).toBeLessThan(400);
  });

  it('must have all four fields of the protocol if it responds to a notification', () => {
    const whole = {
      result: 'success',
      android_successfully_sent_count: 0,
      apple_successfully_sent_count: 1,
      delete_device_ids: [],
      realm_push_status: null,
    };
    const readNotify = (body: unknown) =>
      interpretAnswer(
        { status: 200, retryAfter: undefined, body: JSON.stringify(body) },
        relayNotifyAnswer,
        now,
      );
    expect(readNotify(whole).kind).toBe('accepted');
    for (const name of Object.keys(whole)) {
      expect(readNotify({ ...whole, [name]: undefined }).kind).toBe('retry');
    }
  });
});
