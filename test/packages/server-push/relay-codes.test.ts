import type { UserId } from '@waxwing/protocol';
import { checkPush } from '@waxwing/server-push';
import { Secret } from '@waxwing/service/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { relayCodes } from '#server-push/relay-link/relay-codes.js';
import { userId as user } from '../../support/ids.js';
import { keyGroup, PushServer, pushSodium, tokenGroup } from '../../support/push-server.js';
import { refused } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const names = { program: 'waxwing-server', push: 'waxwing-server push', prefix: 'SERVER_' };
const dayMilliseconds = 24 * 60 * 60_000;
const expired = 'REQUEST_EXPIRED';

/**
 * A relay's error codes, each with its status, whether it is final, the device's final state, and the failing check.
 */
const rows = [
  ['INVALID_BOUNCER_PUBLIC_KEY', 400, true, 'INVALID_BOUNCER_PUBLIC_KEY', 'devices'],
  ['REQUEST_EXPIRED', 400, true, expired, 'devices'],
  ['BAD_REQUEST', 400, true, 'BAD_REQUEST', 'devices'],
  ['REQUEST_VARIABLE_MISSING', 400, true, 'BAD_REQUEST', 'devices'],
  ['REQUEST_VARIABLE_INVALID', 400, true, 'BAD_REQUEST', 'devices'],
  ['REQUEST_CONFUSING_VAR', 400, true, 'BAD_REQUEST', 'devices'],
  ['INVALID_REMOTE_PUSH_DEVICE_TOKEN', 400, true, 'BAD_REQUEST', 'devices'],
  ['A_NEW_CODE', 400, true, 'BAD_REQUEST', 'devices'],
  ['PAYLOAD_TOO_LARGE', 413, true, 'BAD_REQUEST', 'devices'],
  ['REMOTE_REALM_SERVER_MISMATCH_ERROR', 403, true, 'BAD_REQUEST', 'realm'],
  ['MISSING_REMOTE_REALM', 403, false, expired, 'realm'],
  ['PUSH_NOTIFICATIONS_DISALLOWED', 400, false, expired, 'permission'],
  ['INVALID_ZULIP_SERVER', 400, false, expired, 'credentials'],
  ['UNAUTHORIZED', 401, false, expired, 'credentials'],
  ['RATE_LIMIT_HIT', 429, false, expired, 'quota'],
  ['NOT_FOUND', 404, false, expired, 'relay'],
  ['METHOD_NOT_ALLOWED', 405, false, expired, 'relay'],
  // Codes from other services, or codes with a status that relays do not use for them.
  ['BAD_REQUEST', 404, false, expired, 'relay'],
  ['A_NEW_CODE', 422, false, expired, 'relay'],
] as const;

eachBackend((backend) => {
  describe('a registration or notification that the relay refuses', () => {
    let server: PushServer;
    let users = 0;
    beforeEach(async () => {
      server = await PushServer.start(backend);
    });
    afterEach(() => server.close());

    /** Returns the `error_code` of each generation's device. */
    async function errorsOf(userId: UserId): Promise<unknown[]> {
      const [push] = Object.values(await server.push.pushDevicesOf(userId));
      const [client] = Object.values(await server.push.clientDevicesOf(userId));
      return [push?.error_code, client?.push_registration_error_code];
    }

    async function failedChecks(): Promise<string[]> {
      const relay = {
        kind: 'configured',
        url: server.relay.stand.url,
        serverId: 'id',
        serverKey: new Secret('key'),
      } as const;
      const { database } = server;
      const realm = { uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836' };
      const options = { database, relay, realm, names, pinnedSigningKey: undefined, sodium: pushSodium };
      const checks = await checkPush({ ...options, isFromSettings: true, clock: () => server.now });
      return checks.flatMap(({ check, ok, remedy }) => (ok || remedy === null ? [] : [check]));
    }

    it.each(rows)(
      'with %s and %i has the final flag %s, the state %s and the failing check %s',
      async (code, status, isFinal, shown, check) => {
        const ada = user(++users);
        server.relay.around = () => refused(status, code);
        await server.activeAccount(ada, '5');
        const id = await server.createDevice(ada);
        await server.register(ada, id, { ...keyGroup(1), ...tokenGroup('token') });
        await server.settle();
        expect(await errorsOf(ada)).toEqual(isFinal ? [shown, shown] : [null, null]);
        expect(await failedChecks()).toContain(check);
        await server.pass(dayMilliseconds);
        expect(await errorsOf(ada)).toEqual([shown, shown]);
      },
    );

    const ofAnyService = rows.filter(([code, status]) => code === 'A_NEW_CODE' || status === 404);
    it.each([...ofAnyService, rows[2]])(
      'with %s and %i is dropped immediately if it is a notification: %s',
      async (code, status, isFinal) => {
        const ada = user(++users);
        await server.activeDevice(ada, 'token');
        server.relay.around = () => refused(status, code);
        const content = { type: 'test', time: 1 } as const;
        await server.push.notify([ada], { content, giveUpAt: server.now + dayMilliseconds });
        await server.settle();
        server.relay.around = (_, react) => react();
        await server.pass(dayMilliseconds / 2);
        expect(server.relay.deliveries).toHaveLength(isFinal ? 0 : 1);
      },
    );

    it('is tested here with each code that the server knows', () => {
      const known = rows.map(([code]) => code as string);
      expect(Object.keys(relayCodes).filter((code) => !known.includes(code))).toEqual([]);
    });
  });
});
