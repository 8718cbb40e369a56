import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';

const settings = ['new_stream_announcements_stream_id', 'signup_announcements_stream_id'] as const;

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const set = (fields: Record<string, unknown>) => organisation.do('owner', 'PATCH', 'realm', fields);
  let place: { readonly id: number; readonly name: string };
  beforeEach(async () => {
    place = await addChannel(organisation, { members: ['owner'], name: organisation.newName() });
  });
  afterEach(() => set(Object.fromEntries(settings.map((name) => [name, -1]))));

  const make = (names: readonly string[], fields: Record<string, unknown> = { announce: true }) =>
    organisation.do('member', 'POST', 'users/me/subscriptions', {
      subscriptions: names.map((name) => ({ name })),
      ...fields,
    });

  /** Messages in the announcement channel, oldest first. */
  async function posted(): Promise<{ topic: unknown; sender: unknown; html: unknown }[]> {
    const narrow = [{ operator: 'channel', operand: place.id }];
    const asked = { anchor: 'newest', num_before: 10, narrow, allow_empty_topic_name: true };
    const { messages } = await organisation.do('owner', 'GET', 'messages', asked);
    return (messages as Record<string, unknown>[]).map(({ subject, sender_full_name, content }) => ({
      topic: subject,
      sender: sender_full_name,
      html: content,
    }));
  }

  describe('a new public channel', () => {
    it('is announced by the notification bot, with a link, if its creator requests it', async () => {
      await set({ new_stream_announcements_stream_id: place.id });
      const [silent, told] = [organisation.newName(), organisation.newName()];
      await make([silent], {});
      expect(await posted()).toEqual([]);
      const body = await make([told]);
      expect(body).not.toHaveProperty('ignored_parameters_unsupported');
      const { stream_id: id } = await organisation.do('owner', 'GET', 'get_stream_id', { stream: told });
      const [announcement, ...more] = await posted();
      expect(announcement).toMatchObject({ topic: 'new channels', sender: 'Notification Bot' });
      expect(announcement?.html).toMatch(/class="user-mention silent".* created a new channel: /);
      expect(announcement?.html).toContain(`data-stream-id="${id}"`);
      expect(more).toEqual([]);
    });

    it('is announced together with other new channels of the request, but existing channels are not', async () => {
      await set({ new_stream_announcements_stream_id: place.id });
      const [old, one, other] = [organisation.newName(), organisation.newName(), organisation.newName()];
      await make([old], {});
      await make([one, old, other, place.name]);
      const [announcement, ...more] = await posted();
      expect(announcement?.html).toMatch(
        new RegExp(`created new channels: <a .*#${one}</a>, <a .*#${other}</a>\\.`),
      );
      expect(announcement?.html).not.toContain(old);
      expect(more).toEqual([]);
    });

    it('is announced in the empty topic if the announcement channel allows no other topic', async () => {
      place = await addChannel(organisation, { members: ['owner'], topicsPolicy: 'empty_topic_only' });
      await set({ new_stream_announcements_stream_id: place.id });
      await make([organisation.newName()]);
      expect((await posted()).map(({ topic }) => topic)).toEqual(['']);
    });

    it('is not announced without an announcement channel', async () => {
      const name = organisation.newName();
      expect((await make([name])).subscribed).toEqual({ [organisation.id('member')]: [name] });
      expect(await posted()).toEqual([]);
    });
  });

  it('a private channel is not announced', async () => {
    await set({ new_stream_announcements_stream_id: place.id });
    await make([organisation.newName()], { announce: true, invite_only: true });
    expect(await posted()).toEqual([]);
  });

  it('a user who joins by invitation is announced, but is not subscribed to the announcement channel', async () => {
    await set({ signup_announcements_stream_id: place.id });
    const { invite_link: link } = await organisation.do('owner', 'POST', 'invites/multiuse');
    const payload = { full_name: 'Grace Newcomer', email: 'grace@example.com', password: 'correct horse' };
    const { statusCode } = await organisation.server.server.app.inject({
      method: 'POST',
      url: new URL(String(link)).pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(payload).toString(),
    });
    expect(statusCode).toBe(303);
    expect(await posted()).toEqual([
      {
        topic: 'signups',
        sender: 'Notification Bot',
        html: expect.stringMatching(/^<p><span class="user-mention silent".*Grace Newcomer<\/span> joined/),
      },
    ]);
    const { subscribers } = await organisation.do('owner', 'GET', `streams/${place.id}/members`);
    expect(subscribers).toEqual([organisation.id('owner')]);
  });

  describe.each(settings)('%s', (name) => {
    it('must be the id of an existing channel that is not archived', async () => {
      const gone = await addChannel(organisation, { isArchived: true });
      for (const id of [999_999, gone.id]) {
        const { status, body } = await organisation.ask('owner', 'PATCH', 'realm', { [name]: id });
        expect([status, body.msg]).toEqual([
          400,
          `${name} is ${id}: it must be the id of a channel that is not archived, or -1`,
        ]);
      }
      const hidden = await addChannel(organisation, { isPrivate: true });
      await set({ [name]: hidden.id });
      expect(await organisation.do('guest', 'POST', 'register')).toMatchObject({
        [`realm_${name}`]: hidden.id,
      });
    });

    it('is reset when its channel is archived, and clients get an event', async () => {
      await set({ [name]: place.id });
      const events = await organisation.watch('second');
      await organisation.do('owner', 'DELETE', `streams/${place.id}`);
      expect(await events()).toContainEqual({
        type: 'realm',
        op: 'update_dict',
        property: 'default',
        data: { [name]: -1 },
      });
      expect(await organisation.do('second', 'POST', 'register')).toMatchObject({ [`realm_${name}`]: -1 });
      expect((await make([organisation.newName()])).result).toBe('success');
    });
  });
});
