import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);

  describe('presence', () => {
    it('is accepted, with an empty response', async () => {
      const body = await organisation.do('member', 'POST', 'users/me/presence', {
        status: 'active',
        ping_only: false,
        new_user_input: true,
        slim_presence: true,
        last_update_id: -1,
        history_limit_days: 14,
      });
      expect(body).toEqual({
        result: 'success',
        msg: '',
        presences: {},
        presence_last_update_id: -1,
        server_timestamp: organisation.server.now / 1000,
      });
    });

    it.each([
      [{}, 'REQUEST_VARIABLE_MISSING', 'status'],
      [{ status: 'asleep' }, 'BAD_REQUEST', 'status'],
      [{ status: 'idle', ping_only: 'yes' }, 'BAD_REQUEST', 'ping_only'],
      [{ status: 'idle', new_user_input: 1 }, 'BAD_REQUEST', 'new_user_input'],
      [{ status: 'idle', slim_presence: 'True' }, 'BAD_REQUEST', 'slim_presence'],
      [{ status: 'idle', last_update_id: 'x' }, 'BAD_REQUEST', 'last_update_id'],
      [{ status: 'idle', history_limit_days: 1.5 }, 'BAD_REQUEST', 'history_limit_days'],
    ])('refuses %o', async (parameters, code, name) => {
      const { status, body } = await organisation.ask('member', 'POST', 'users/me/presence', parameters);
      expect([status, body.code]).toEqual([400, code]);
      expect(body.msg).toContain(name);
    });

    it('is refused for bots', async () => {
      const { body } = await organisation.ask('bot', 'POST', 'users/me/presence', { status: 'active' });
      expect([body.code, body.msg]).toEqual(['BAD_REQUEST', 'This endpoint does not accept bot requests.']);
    });
  });

  describe('typing', () => {
    it.each([
      { op: 'start', to: [1, 2] },
      { op: 'stop', type: 'direct', to: [1] },
      { op: 'start', type: 'stream', stream_id: 1, topic: 'lunch' },
      { op: 'start', type: 'channel', stream_id: 1, topic: '' },
    ])('is accepted: %o', async (parameters) => {
      expect(await organisation.do('member', 'POST', 'typing', parameters)).toEqual({
        result: 'success',
        msg: '',
      });
    });

    it.each([
      [{}, 'REQUEST_VARIABLE_MISSING', 'op'],
      [{ op: 'pause', to: [1] }, 'BAD_REQUEST', 'op'],
      [{ op: 'start', type: 'mail', to: [1] }, 'BAD_REQUEST', 'type'],
      [{ op: 'start', to: 'ada' }, 'BAD_REQUEST', 'to'],
      [{ op: 'start', to: Array.from({ length: 1001 }, () => 1) }, 'BAD_REQUEST', 'to'],
      [{ op: 'start', type: 'stream', stream_id: 'x', topic: 't' }, 'BAD_REQUEST', 'stream_id'],
      [{ op: 'start', type: 'stream', stream_id: 1, topic: 't'.repeat(201) }, 'BAD_REQUEST', 'topic'],
      [{ op: 'start' }, 'BAD_REQUEST', "Missing 'to' argument"],
      [{ op: 'start', type: 'stream', topic: 't' }, 'BAD_REQUEST', "Missing 'stream_id' argument"],
      [{ op: 'start', type: 'stream', stream_id: 1 }, 'BAD_REQUEST', "Missing 'topic' argument"],
    ])('refuses %o', async (parameters, code, name) => {
      const { status, body } = await organisation.ask('member', 'POST', 'typing', parameters);
      expect([status, body.code]).toEqual([400, code]);
      expect(body.msg).toContain(name);
    });
  });
});
