import { describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

type Event = Record<string, unknown>;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const idOf = async (stream: string) =>
    (await organisation.do('owner', 'GET', 'get_stream_id', { stream })).stream_id as number;

  /** Subscribes the member and the owner to two public channels and a private one, and adds them to a new group. */
  async function arrange() {
    const [open, other, hidden] = [0, 1, 2].map(() => organisation.newName()) as [string, string, string];
    const principals = [organisation.id('member'), organisation.id('owner')];
    const subscribe = (names: string[], more: object) =>
      organisation.do('owner', 'POST', 'users/me/subscriptions', {
        subscriptions: names.map((name) => ({ name })),
        principals,
        ...more,
      });
    await subscribe([open, other], {});
    await subscribe([hidden], { invite_only: true });
    const name = organisation.newName();
    const made = { name, description: '', members: principals, subgroups: [] };
    await organisation.do('owner', 'POST', 'user_groups/create', made);
    const groups = await organisation.groups();
    const inGroups = Object.values(groups).filter(({ members }) => members.includes(principals[0] ?? 0));
    return {
      open: await idOf(open),
      other: await idOf(other),
      hidden: await idOf(hidden),
      groupIds: inGroups.map(({ id }) => id).sort((a, b) => a - b),
      made: groups[name]?.id ?? 0,
    };
  }

  describe.each([
    ['deactivated', false, 'remove_members', 'peer_remove'],
    ['reactivated', true, 'add_members', 'peer_add'],
  ] as const)('a user who is %s', (_, isActive, members, peers) => {
    it('is published for each channel and group to clients that can see it, consistently with their initial state', async () => {
      const { open, other, hidden, groupIds, made } = await arrange();
      const userId = organisation.id('member');
      const deactivate = () => organisation.do('owner', 'DELETE', `users/${userId}`);
      const reactivate = () => organisation.do('owner', 'POST', `users/${userId}/reactivate`);
      if (isActive) await deactivate();
      const owner = await organisation.watch('owner');
      const second = await organisation.watch('second');
      const guest = await organisation.watch('guest');
      await (isActive ? reactivate() : deactivate());
      const person = { type: 'realm_user', op: 'update', person: { user_id: userId, is_active: isActive } };
      const told = groupIds.map((group_id) => ({
        type: 'user_group',
        op: members,
        group_id,
        user_ids: [userId],
      }));
      const heard = async (read: () => Promise<unknown[]>) => {
        const events = (await read()) as Event[];
        const subscriptions = events.filter(({ type }) => type === 'subscription');
        expect(events.filter(({ type }) => type !== 'subscription')).toEqual([person, ...told]);
        for (const event of subscriptions) {
          expect(event).toMatchObject({ op: peers, user_ids: [userId] });
        }
        return subscriptions.flatMap(({ stream_ids }) => stream_ids as number[]);
      };
      expect(groupIds).toContain(made);
      expect(await heard(owner)).toEqual(expect.arrayContaining([open, other, hidden]));
      const ofSecond = await heard(second);
      expect(ofSecond).toEqual(expect.arrayContaining([open, other]));
      expect(ofSecond).not.toContain(hidden);
      expect(await heard(guest)).toEqual([]);
      const { subscribers } = await organisation.do('owner', 'GET', `streams/${open}/members`);
      expect((subscribers as number[]).includes(userId)).toBe(isActive);
      const group = Object.values(await organisation.groups()).find(({ id }) => id === made);
      expect(group?.members.includes(userId)).toBe(isActive);
      if (!isActive) await reactivate();
    });
  });
});
