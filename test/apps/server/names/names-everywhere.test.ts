import { beforeAll, describe, expect, it } from 'vitest';
import { addUser } from '#server/membership/user-administration/manage-users.js';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { post } from '../messages/edit/moves-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { hiddenIn } from './names.js';

/** Names of each kind with invisible characters. */
const good = [
  'علی\u200cرضا',
  'ශ්\u200dරී ලංකා',
  'Ada 👩\u200d💻',
  '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
  '葛\u{e0100}城',
];
const bad = [
  ...['\u200d', '\u200f', '\u00ad', '\u3164', '\u2800', '\u202eabc', 'a\u202ec', 'a\u2066b'],
  ...[
    hiddenIn['a joiner between Latin letters'],
    hiddenIn['tags without a flag'],
    hiddenIn['a line separator'],
  ],
].filter((name) => name !== undefined);
const fieldTypes = { short: 1, select: 3 };

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  let link: string;
  let channel: { readonly id: number };
  let group: unknown;
  let folder: unknown;
  let count = 0;

  beforeAll(async () => {
    const { invite_link } = await organisation.do('owner', 'POST', 'invites/multiuse', {});
    link = new URL(String(invite_link)).pathname;
    channel = await addChannel(organisation, { members: ['member'] });
    group = (
      await organisation.do('owner', 'POST', 'user_groups/create', {
        name: 'a',
        description: '',
        members: [],
      })
    ).group_id;
    folder = (await organisation.do('owner', 'POST', 'channel_folders/create', { name: 'a' }))
      .channel_folder_id;
  });

  const status = async (...asked: Parameters<typeof organisation.ask>): Promise<number> => {
    const answer = await organisation.ask(...asked);
    if (answer.status !== 200)
      expect(answer.body).toMatchObject({ code: 'BAD_REQUEST', msg: expect.stringMatching(/^\S.*[.!]$/) });
    return answer.status;
  };

  async function join(fullName: string): Promise<number> {
    count += 1;
    const { statusCode } = await organisation.server.server.app.inject({
      method: 'POST',
      url: link,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        full_name: fullName,
        email: `joined${count}@example.com`,
        password: 'correct horse',
      }).toString(),
    });
    return statusCode === 303 ? 200 : statusCode;
  }

  async function added(fullName: string): Promise<number> {
    count += 1;
    const administration = {
      clock: () => organisation.server.now,
      realm: { url: 'https://chat.example.com' },
    };
    const user = {
      fullName,
      email: `added${count}@example.com`,
      role: 400,
      isBot: false,
      ownerEmail: undefined,
    } as const;
    return addUser(organisation.server.server.database, administration, user).then(
      () => 200,
      () => 400,
    );
  }

  const newField = (more: object) =>
    status('owner', 'POST', 'realm/profile_fields', {
      name: `field ${++count}`,
      field_type: fieldTypes.short,
      ...more,
    });

  /** Functions that set each kind of name. They return the HTTP status. */
  const places: Readonly<Record<string, (name: string) => Promise<number>>> = {
    'a person who joins': join,
    'a user that a command adds': added,
    'a person, by themselves': (full_name) => status('member', 'PATCH', 'settings', { full_name }),
    'a person, by an administrator': (full_name) =>
      status('owner', 'PATCH', 'users/second@example.com', { full_name }),
    'a bot': (full_name) => status('owner', 'PATCH', 'users/bot@example.com', { full_name }),
    'a new group': (name) =>
      status('owner', 'POST', 'user_groups/create', { name, description: '', members: [] }),
    'a group': (name) => status('owner', 'PATCH', `user_groups/${group}`, { name: `${name} team` }),
    'a new channel': (name) =>
      status('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name }] }),
    'a channel': (new_name) =>
      status('owner', 'PATCH', `streams/${channel.id}`, { new_name: `${new_name}!` }),
    'a new folder': (name) => status('owner', 'POST', 'channel_folders/create', { name }),
    'a folder': (name) => status('owner', 'PATCH', `channel_folders/${folder}`, { name: `${name}!` }),
    'the topic of a new message': (topic) =>
      status('member', 'POST', 'messages', { type: 'stream', to: [channel.id], topic, content: 'x' }),
    'the topic of a moved message': async (topic) => {
      const [id] = await post(organisation, { channelId: channel.id as never });
      return status('member', 'PATCH', `messages/${id}`, { topic });
    },
    'a playground': (name) =>
      status('owner', 'POST', 'realm/playgrounds', {
        name,
        pygments_language: 'Python',
        url_template: 'https://example.com/{code}',
      }),
    'a profile field': (name) => newField({ name }),
    'the hint of a profile field': (hint) => newField({ hint }),
    'a choice of a profile field': (text) =>
      newField({ field_type: fieldTypes.select, field_data: { a: { text, order: '1' } } }),
    'the pattern of a linkifier': (name) =>
      status('owner', 'POST', 'realm/filters', {
        pattern: `${name}-(?P<id>[0-9]+)`,
        url_template: 'https://example.com/{id}',
      }),
  };

  describe.each(Object.entries(places))('%s', (place, name) => {
    // Joining is slow because it hashes a password, so only three names are tried.
    const some = <T>(all: readonly T[]) => (place === 'a person who joins' ? all.slice(0, 3) : all);
    const alone = /new|person|user|bot|playground|field|moved/.test(place);

    it('can have a name with joiners, tags and variants in valid positions', async () => {
      for (const each of some(good)) expect([each, await name(each)]).toEqual([each, 200]);
    });

    it('cannot have an invisible name, or a name with hidden characters', async () => {
      // A blank character is allowed where the test adds visible characters to the name.
      const tried = bad.filter((each) => alone || each !== '\u2800');
      for (const each of some(tried)) expect([each, await name(each)]).toEqual([each, 400]);
    });
  });

  it('two users cannot differ only by invisible characters where names are unique', async () => {
    await organisation.do('owner', 'PATCH', 'users/second@example.com', { full_name: 'نرم\u200cافزار' });
    await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: true });
    expect(await status('member', 'PATCH', 'settings', { full_name: 'نرمافزار' })).toBe(400);
  });
});
