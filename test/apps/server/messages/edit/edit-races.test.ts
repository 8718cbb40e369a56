import type { ChannelId } from '@waxwing/protocol';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messageProblems } from '../../../../support/check-messages.js';
import fc from '../../../../support/fast-check.js';
import { eachPostgres } from '../../../../support/test-databases.js';
import { sharedOrganisation } from '../../organisation-under-test.js';
import { type Answer, ServerUnderTest } from '../../server-under-test.js';
import { addChannel } from '../chat-under-test.js';
import { post } from './moves-under-test.js';

const topics = ['lunch', 'dinner', '✔ lunch', ''];
type Who = 'member' | 'second' | 'owner';
type Step =
  | { readonly kind: 'content'; readonly who: Who; readonly at: number; readonly content: string }
  | {
      readonly kind: 'move';
      readonly who: Who;
      readonly at: number;
      readonly topic: string;
      readonly channel: number;
      readonly mode: string;
    }
  | { readonly kind: 'delete'; readonly who: Who; readonly at: number }
  | { readonly kind: 'leave'; readonly who: Who; readonly channel: number }
  | { readonly kind: 'member'; readonly who: Who; readonly change: 'add' | 'delete' }
  | { readonly kind: 'group'; readonly name: string };

const who = fc.constantFrom<Who>('member', 'second', 'owner');
const at = fc.nat({ max: 5 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('content' as const),
      who,
      at,
      content: fc.constantFrom('a', '@**all**', 'b'),
    }),
    fc.record({
      kind: fc.constant('move' as const),
      who,
      at,
      topic: fc.constantFrom(...topics),
      channel: fc.nat({ max: 2 }),
      mode: fc.constantFrom('change_one', 'change_later', 'change_all'),
    }),
    fc.record({ kind: fc.constant('delete' as const), who, at }),
    fc.record({ kind: fc.constant('leave' as const), who, channel: fc.nat({ max: 2 }) }),
    fc.record({ kind: fc.constant('member' as const), who, change: fc.constantFrom('add', 'delete') }),
    fc.record({
      kind: fc.constant('group' as const),
      name: fc.constantFrom('everyone', 'members', 'moderators', 'movers'),
    }),
  ),
  { minLength: 8, maxLength: 16 },
);

eachPostgres((postgres) => {
  const organisation = sharedOrganisation(postgres);
  /** A second server on the same database. */
  let other: ServerUnderTest;
  /** A group whose members change. */
  let movers = 0;
  beforeAll(async () => {
    const { databaseUrl } = organisation.server;
    other = await ServerUnderTest.start({ databaseUrl, withoutRelay: true });
    const made = await organisation.do('owner', 'POST', 'user_groups/create', {
      name: 'movers',
      description: '',
      members: [organisation.id('member')],
    });
    movers = made.group_id as number;
  });
  afterAll(() => other.close());

  async function world() {
    const members = ['member', 'second', 'owner'] as const;
    const made = [
      await addChannel(organisation, { members }),
      await addChannel(organisation, { members, isPrivate: true, isHistoryPublic: true }),
      await addChannel(organisation, { members, isPrivate: true }),
    ];
    const channels = made.map(({ id }) => id);
    const names = made.map(({ name }) => name);
    const ids: number[] = [];
    for (const [index, by] of (['member', 'second', 'owner', 'member', 'second', 'owner'] as const).entries())
      ids.push(...(await post(organisation, { by, channelId: channels[index % 2] as ChannelId })));
    return { channels, names, ids };
  }

  async function take(
    step: Step,
    server: ServerUnderTest,
    { channels, names, ids }: Awaited<ReturnType<typeof world>>,
  ): Promise<Answer> {
    const account = organisation.accounts['who' in step ? step.who : 'owner'];
    const id = 'at' in step ? ids[step.at] : 0;
    if (step.kind === 'delete') return server.ask(account, 'DELETE', `messages/${id}`);
    if (step.kind === 'content')
      return server.ask(account, 'PATCH', `messages/${id}`, { content: step.content });
    if (step.kind === 'move') {
      return server.ask(account, 'PATCH', `messages/${id}`, {
        topic: step.topic,
        stream_id: String(channels[step.channel]),
        propagate_mode: step.mode,
        send_notification_to_old_thread: 'true',
      });
    }
    if (step.kind === 'group') {
      const group = step.name === 'movers' ? movers : await organisation.roleGroup(step.name);
      return server.ask(account, 'PATCH', 'realm', {
        can_move_messages_between_topics_group: JSON.stringify({ new: group }),
      });
    }
    if (step.kind === 'member') {
      return server.ask(organisation.accounts.owner, 'POST', `user_groups/${movers}/members`, {
        [step.change]: JSON.stringify([account.userId]),
      });
    }
    return server.ask(account, 'DELETE', 'users/me/subscriptions', {
      subscriptions: JSON.stringify([names[step.channel]]),
    });
  }

  it('concurrent edits, moves, deletions, unsubscriptions and permission changes keep the data consistent', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const places = await world();
        const stranger = await organisation.watch('guest', {
          event_types: '["update_message","delete_message","message"]',
        });
        const servers = [organisation.server, other];
        const answers = await Promise.all(
          all.map((step, index) => take(step, servers[index % 2] as ServerUnderTest, places)),
        );
        const unexpected = answers.filter(({ status }) => ![200, 400].includes(status));
        expect(unexpected.map(({ body }) => body)).toEqual([]);
        expect(await messageProblems(organisation.server.server.database.db)).toEqual([]);
        expect(await stranger()).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });
});
