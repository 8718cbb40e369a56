import type { DatabaseWithJobs } from '@waxwing/jobs';
import { maximumPushDevicesPerUser, ProtocolError, type UserId } from '@waxwing/protocol';
import { type PushActor, type ServerPushTables, serverPushMigrations } from '@waxwing/server-push';
import { beforeEach, describe, expect, it } from 'vitest';
import { registrationJobKinds } from '#server-push/push-devices/enqueue-forwarding.js';
import { failRegistration } from '#server-push/push-devices/pending-registrations.js';
import { RegistrationIntake } from '#server-push/push-devices/registration-intake.js';
import type { PushDeviceId } from '#server-push/tables.js';
import { accountIdText, userId } from '../../support/ids.js';
import { eachBackend } from '../../support/test-databases.js';

const now = 1_773_000_000_000;
const [ada, bob, cyd, dan] = [userId(7), userId(8), userId(9), userId(10)];

function registration(account: number, hash = 'a hash') {
  return {
    pushAccountId: accountIdText(account),
    tokenKind: 'fcm' as const,
    hash,
    pushPublicKey: 'a push key',
    bouncerPublicKey: 'a bouncer key',
    encryptedPushRegistration: `sealed ${hash}`,
  };
}

function actor(user: UserId, hold: PushActor['lockUser'] = async () => undefined): PushActor {
  return { userId: user, isBot: false, lockUser: hold };
}

describe('the registrations in one event-loop tick', () => {
  eachBackend((backend) => {
    let database: DatabaseWithJobs<ServerPushTables>;
    let intake: RegistrationIntake;

    beforeEach(async () => {
      database = await backend.open<ServerPushTables>({
        migrations: [serverPushMigrations],
        now: () => now,
      });
      intake = new RegistrationIntake({ database, clock: () => now, registrationsPerHour: 3 });
    });

    const devices = () =>
      database.db
        .selectFrom('push_devices')
        .select(['id', 'user_id as user', 'push_account_id as account', 'generation'])
        .select('pending_encrypted_registration as sealed')
        .orderBy('id')
        .execute();

    it('are each stored with a job, in the order of arrival', async () => {
      const users = Array.from({ length: 70 }, (_, index) => userId(170 - index));
      const answers = await Promise.all(
        users.map((user) => intake.register(actor(user), registration(user, `hash ${user}`))),
      );
      expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
      const kept = await devices();
      expect(new Map(kept.map(({ user, account, sealed }) => [user, [account, sealed]]))).toEqual(
        new Map(users.map((user) => [user, [String(user), `sealed hash ${user}`]])),
      );
      const userOf = new Map(kept.map(({ id, user }) => [id, user]));
      const jobs = await database.db
        .withTables<{ jobs: { id: number; kind: string; payload: string } }>()
        .selectFrom('jobs')
        .select('payload')
        .where('kind', '=', registrationJobKinds.common)
        .orderBy('id')
        .execute();
      const named = jobs.map(({ payload }) => JSON.parse(payload).push_device_id as PushDeviceId);
      expect(named.map((id) => userOf.get(id))).toEqual(users);
    });

    it('are each checked against the state of their own user', async () => {
      await intake.register(actor(ada), registration(1));
      for (const hash of ['b', 'c', 'd']) await intake.register(actor(bob), registration(1, hash));
      const answers = await Promise.all([
        intake.register(actor(ada), registration(1)),
        intake.register(actor(bob), registration(2)),
        intake.register(actor(cyd), registration(1)),
        intake.register(actor(bob), registration(1, 'd')),
        intake.register(actor(ada), registration(1, 'another hash')),
      ]);
      expect(answers).toMatchObject([
        { kind: 'unchanged' },
        { kind: 'limited', waitSeconds: 1200 },
        { kind: 'accepted', key: { generation: 1 }, waitingBefore: 0 },
        { kind: 'unchanged' },
        { kind: 'accepted', key: { generation: 2 }, waitingBefore: 1 },
      ]);
    });

    it('are refused for a user at the device limit, unless a failed device can be replaced', async () => {
      const generous = new RegistrationIntake({ database, clock: () => now, registrationsPerHour: 10_000 });
      const known = Array.from({ length: maximumPushDevicesPerUser }, (_, index) => ({
        user_id: ada,
        push_account_id: accountIdText(index + 1),
        generation: 1,
        changed_at: now,
        registration_hash: 'a hash',
        pending_token_kind: 'fcm' as const,
      }));
      for (let start = 0; start < known.length; start += 100) {
        await database.db
          .insertInto('push_devices')
          .values(known.slice(start, start + 100))
          .execute();
      }
      const both = (account: number) =>
        Promise.all([ada, bob].map((user) => generous.register(actor(user), registration(account))));
      const [full, free] = await both(20_000);
      expect([full?.kind, free?.kind]).toEqual(['full', 'accepted']);
      const [oldest] = await devices();
      await database.write((transaction) =>
        failRegistration(transaction, { id: oldest?.id as PushDeviceId, generation: 1 }, 'BAD_REQUEST', now),
      );
      const [accepted] = await both(20_001);
      expect(accepted).toMatchObject({ kind: 'accepted', freed: [] });
      expect((await devices()).map(({ id }) => id)).not.toContain(oldest?.id);
    });

    it('fail independently if a user no longer exists or the database rejects a row', async () => {
      const gone = new ProtocolError('INVALID_API_KEY');
      const broken = new Error('this one cannot be written');
      const answers = await Promise.allSettled([
        intake.register(actor(ada), registration(1)),
        intake.register(
          actor(bob, async () => Promise.reject(gone)),
          registration(1),
        ),
        intake.register(
          actor(cyd, async () => Promise.reject(broken)),
          registration(1),
        ),
        intake.register(actor(dan), registration(1)),
      ]);
      expect(answers).toMatchObject([
        { value: { kind: 'accepted' } },
        { reason: gone },
        { reason: broken },
        { value: { kind: 'accepted' } },
      ]);
      expect((await devices()).map(({ user }) => user).sort((a, b) => a - b)).toEqual([ada, dan]);
      expect(await database.jobs.list({ kind: registrationJobKinds.common })).toHaveLength(2);
    });

    it('replace each other in order if one phone sends several', async () => {
      const answers = await Promise.all(
        ['a', 'b', 'b'].map((hash) => intake.register(actor(ada), registration(1, hash))),
      );
      expect(answers.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'unchanged']);
      expect(await devices()).toMatchObject([{ generation: 2, sealed: 'sealed b' }]);
    });
  });
});
