import { relayNotifyPath } from '@waxwing/protocol';
import { removePushDevicesOf } from '@waxwing/server-push';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountIdText, userId as user } from '../../support/ids.js';
import { keyGroup, PushServer, tokenIdOf } from '../../support/push-server.js';
import type { RelayReaction } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';

const [ada, bob] = [user(7), user(8)];
const message = {
  type: 'message',
  messageId: 5,
  time: 1,
  content: 'hello',
  senderId: bob,
  senderFullName: 'Bob',
  senderAvatarUrl: 'https://chat.example.com/avatar/8',
  recipient: { kind: 'direct', userIds: [ada, bob] },
} as const;

/** Converts a response to a stock relay's response, which has no result per device. */
function asStock(reaction: RelayReaction): RelayReaction {
  if (typeof reaction === 'string') return reaction;
  return { ...reaction, body: { ...Object(reaction.body), results: undefined } };
}

eachBackend((backend) => {
  describe('during a slow relay request, a notification', () => {
    let server: PushServer;
    /** Runs while the relay processes the first notify request. */
    let meanwhile: () => Promise<unknown>;
    beforeEach(async () => {
      server = await PushServer.start(backend);
      await server.activeAccount(ada, '1');
      await server.activeAccount(ada, '2');
      await server.activeDevice(ada, 'first');
      await server.activeDevice(ada, 'last');
      let isFirst = true;
      server.relay.around = async ({ path }, react) => {
        if (path === relayNotifyPath && isFirst) {
          isFirst = false;
          await meanwhile();
        }
        return path === relayNotifyPath ? asStock(react()) : react();
      };
    });
    afterEach(() => server.close());

    const reached = () => server.relay.deliveries.map(({ deviceId, tokenId }) => deviceId ?? tokenId);
    const removeAll = () =>
      server.database.write((transaction) => {
        const context = {
          database: server.database,
          clock: () => server.now,
          publish: async () => undefined,
        };
        return removePushDevicesOf(context, transaction, ada);
      });

    it('goes to each device, one at a time', async () => {
      meanwhile = async () => undefined;
      await server.notify(ada, message);
      expect(reached()).toEqual([1, 2, tokenIdOf('first'), tokenIdOf('last')]);
    });

    it('reaches no further device of a user who was deactivated', async () => {
      meanwhile = removeAll;
      await server.notify(ada, message);
      expect(reached()).toEqual([1]);
    });

    it.each([
      [
        'of the older generation',
        () =>
          server.database.write(({ db }) =>
            db.deleteFrom('push_devices').where('push_account_id', '=', accountIdText('2')).execute(),
          ),
        2,
      ],
      [
        'of the newer generation',
        async () => {
          const { id } = await server.database.db
            .selectFrom('client_devices')
            .select('id')
            .where('push_token_id', '=', tokenIdOf('first'))
            .executeTakeFirstOrThrow();
          await server.ask(ada, 'remove_client_device', { device_id: String(id) });
        },
        tokenIdOf('first'),
      ],
    ] as const)('does not reach a signed-out phone %s', async (_, signOut, address) => {
      meanwhile = signOut;
      await server.notify(ada, message);
      const others = [1, 2, tokenIdOf('first'), tokenIdOf('last')].filter((each) => each !== address);
      expect(reached()).toEqual(others);
    });

    it('reaches no further device of a user who can no longer see the message', async () => {
      meanwhile = async () => {
        server.isWanted = false;
      };
      await server.notify(ada, message);
      expect(reached()).toEqual([1]);
    });

    it('is sealed with the key that a phone registers during the request', async () => {
      const { id } = await server.database.db
        .selectFrom('client_devices')
        .select('id')
        .where('push_token_id', '=', tokenIdOf('last'))
        .executeTakeFirstOrThrow();
      meanwhile = () => server.register(ada, id, keyGroup(99));
      await server.notify(ada, message);
      expect(server.relay.deliveries.at(-1)).toMatchObject({ tokenId: tokenIdOf('last'), keyId: 99 });
    });

    it('reaches no further batch of a user who was deactivated', async () => {
      meanwhile = removeAll;
      // The server knows that the relay accepts several devices, and the user has more devices than fit into one
      // request.
      server.relay.around = (_, react) => react();
      await server.notify(ada);
      await server.database.write(async ({ db }) => {
        const row = await db
          .selectFrom('client_devices')
          .selectAll()
          .where('push_token_id', '=', tokenIdOf('last'))
          .executeTakeFirstOrThrow();
        const { id: _, ...columns } = row;
        const many = Array.from({ length: 450 }, (_, index) => ({
          ...columns,
          push_token_id: tokenIdOf(`more ${index}`),
        }));
        await db.insertInto('client_devices').values(many.slice(0, 225)).execute();
        await db.insertInto('client_devices').values(many.slice(225)).execute();
        for (const { push_token_id: id } of many) server.relay.tokens.add(id);
      });
      server.relay.deliveries.splice(0);
      let requests = 0;
      server.relay.around = async ({ path }, react) => {
        requests += path === relayNotifyPath ? 1 : 0;
        if (requests === 2) await removeAll();
        return react();
      };
      await server.notify(ada, message);
      expect([requests, server.relay.deliveries.length]).toEqual([2, 400]);
    });
  });
});
