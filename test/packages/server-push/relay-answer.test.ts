import { relayNotifyAnswer, relayRegisterAnswer } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import { interpretAnswer } from '#server-push/relay-link/relay-answer.js';

const now = Date.UTC(2026, 0, 1);

describe('the relay’s answer', () => {
  const read = (status: number, body: unknown, retryAfter?: string) =>
    interpretAnswer({ status, retryAfter, body: JSON.stringify(body) }, relayRegisterAnswer, now);

  it('is accepted when it is 200 and of the right shape, unknown fields or not', () => {
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
  ])('is retried when it is %i %j, because of %s', (status, body, cause) => {
    expect(read(status, body, '9')).toMatchObject({ kind: 'retry', cause, retryAfterSeconds: 9 });
  });

  it('rounds the time until an HTTP date up to whole seconds', () => {
    const later = interpretAnswer(
      { status: 503, retryAfter: 'Thu, 01 Jan 2026 00:02:00 GMT', body: undefined },
      relayRegisterAnswer,
      now + 400,
    );
    expect(later).toMatchObject({ kind: 'retry', retryAfterSeconds: 120 });
  });

  it('is final when it is another 4xx, with BAD_REQUEST where it names no code', () => {
    expect(read(400, { code: 'REQUEST_EXPIRED', msg: 'Request expired' })).toEqual({
      kind: 'refused-for-good',
      code: 'REQUEST_EXPIRED',
      message: 'Request expired',
    });
    for (const code of [undefined, 7, 'not a code', 'lower_case', 'X'.repeat(200)]) {
      expect(read(422, { code })).toMatchObject({ kind: 'refused-for-good', code: 'BAD_REQUEST' });
    }
  });

  it('cannot break the admin’s log or terminal with its text', () => {
    const outcome = read(401, { msg: `a\u001b[2J\nb${'x'.repeat(1000)}` });
    expect(outcome).toMatchObject({ reason: expect.stringMatching(/^the relay answered 401: a \[2J bx+$/) });
    expect((outcome as { reason: string }).reason.length).toBeLessThan(400);
  });

  it('to a notification must have all four fields of the protocol', () => {
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
