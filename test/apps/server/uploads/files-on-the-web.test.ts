import type { ChannelId, MessageId } from '@waxwing/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { addChannel } from '../messages/chat-under-test.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { upload } from './send-file.js';
import { type Sender, sendMessage, toChannel } from './send-message.js';

/** A message with a file in a web-public channel. */
interface Sent {
  readonly channelId: ChannelId;
  readonly messageId: MessageId;
  readonly path: string;
}

/** `undefined` is an unauthenticated client. */
type Reader = Sender | undefined;

const readers: readonly Reader[] = [undefined, 'guest', 'second', 'owner'];
const web = [{ operator: 'channels', operand: 'web-public' }];

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const { accounts } = organisation;
  let elsewhere: Record<'onWeb' | 'archived' | 'open' | 'shut', ChannelId>;

  const allow = (isAllowed: boolean) =>
    organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: isAllowed });

  beforeAll(async () => {
    const members = ['member', 'owner'] as const;
    const add = async (wish: object) => (await addChannel(organisation, { members, ...wish })).id;
    elsewhere = {
      onWeb: await add({ isWebPublic: true }),
      archived: await add({ isWebPublic: true, isArchived: true }),
      open: await add({}),
      shut: await add({ isPrivate: true }),
    };
    await organisation.do('owner', 'PATCH', 'realm', {
      can_move_messages_between_channels_group: { new: await organisation.roleGroup('members') },
      can_delete_own_message_group: { new: await organisation.roleGroup('members') },
    });
    await allow(true);
  });

  async function send(): Promise<Sent> {
    const path = await upload(organisation, accounts.member);
    const { id: channelId } = await addChannel(organisation, {
      isWebPublic: true,
      members: ['member', 'owner'],
    });
    const messageId = await sendMessage(
      organisation,
      'member',
      toChannel(channelId),
      `[cat](/user_uploads/${path})`,
    );
    return { channelId, messageId, path };
  }

  async function isAnswered(
    reader: Reader,
    url: string,
    method: 'GET' | 'HEAD' = 'GET',
    more: Record<string, string> = {},
  ): Promise<boolean> {
    const headers = { ...more, ...(reader && { authorization: accounts[reader].authorization }) };
    const { statusCode } = await organisation.server.server.app.inject({ method, url, headers });
    expect([200, 206, 400, 401, 404]).toContain(statusCode);
    return statusCode < 300;
  }

  /** Whether a client can read the file. All ways to request it must agree. */
  async function readsFile(reader: Reader, { path }: Sent): Promise<boolean> {
    const file = `/user_uploads/${path}`;
    const answers = await Promise.all([
      isAnswered(reader, file),
      isAnswered(reader, file, 'HEAD'),
      isAnswered(reader, file, 'GET', { range: 'bytes=0-1' }),
      isAnswered(reader, `/api/v1${file}`),
    ]);
    expect(new Set(answers).size).toBe(1);
    return answers[0] as boolean;
  }

  /** Whether a client can read the message, by its ID and in the history. */
  async function readsMessage(reader: Reader, { messageId }: Sent): Promise<boolean> {
    const byId = await isAnswered(reader, `/api/v1/messages/${messageId}`);
    if (reader !== undefined) return byId;
    const asked = new URLSearchParams({
      anchor: 'newest',
      num_before: '1000',
      num_after: '0',
      narrow: JSON.stringify(web),
    });
    const answer = await organisation.server.server.app.inject({ url: `/api/v1/messages?${asked}` });
    const found = answer.statusCode === 200 ? answer.json<{ messages: { id: number }[] }>().messages : [];
    expect(found.some(({ id }) => id === messageId)).toBe(byId);
    return byId;
  }

  const changes: readonly {
    readonly name: string;
    readonly isOnWeb: boolean;
    readonly make: (sent: Sent) => Promise<unknown>;
  }[] = [
    { name: 'as it was sent', isOnWeb: true, make: async () => undefined },
    {
      name: 'archived',
      isOnWeb: false,
      make: ({ channelId }) => organisation.do('owner', 'DELETE', `streams/${channelId}`),
    },
    {
      name: 'archived and active again',
      isOnWeb: true,
      async make({ channelId }) {
        await organisation.do('owner', 'DELETE', `streams/${channelId}`);
        await organisation.do('owner', 'PATCH', `streams/${channelId}`, { is_archived: false });
      },
    },
    {
      name: 'no longer web-public',
      isOnWeb: false,
      make: ({ channelId }) =>
        organisation.do('owner', 'PATCH', `streams/${channelId}`, { is_web_public: false }),
    },
    {
      name: 'private',
      isOnWeb: false,
      make: ({ channelId }) =>
        organisation.do('owner', 'PATCH', `streams/${channelId}`, { is_private: true, is_web_public: false }),
    },
    {
      name: 'private, and web-public again',
      isOnWeb: true,
      async make({ channelId }) {
        const path = `streams/${channelId}`;
        await organisation.do('owner', 'PATCH', path, { is_private: true, is_web_public: false });
        await organisation.do('owner', 'PATCH', path, { is_private: false, is_web_public: true });
      },
    },
    ...(['onWeb', 'open', 'shut'] as const).map((name) => ({
      name: `moved to a channel: ${name}`,
      isOnWeb: name === 'onWeb',
      make: ({ messageId }: Sent) =>
        organisation.do('owner', 'PATCH', `messages/${messageId}`, {
          stream_id: elsewhere[name],
          propagate_mode: 'change_one',
        }),
    })),
    {
      name: 'deleted',
      isOnWeb: false,
      make: ({ messageId }) => organisation.do('owner', 'DELETE', `messages/${messageId}`),
    },
    { name: 'without public access', isOnWeb: false, make: () => allow(false) },
  ];

  describe('unauthenticated clients and users', () => {
    it.each(changes)(
      'can read a file exactly if they can read its message: $name',
      async ({ isOnWeb, make }) => {
        const sent = await send();
        await make(sent);
        for (const reader of readers) {
          const reads = await readsMessage(reader, sent);
          expect({ reader, reads: await readsFile(reader, sent) }).toEqual({ reader, reads });
        }
        expect(await readsMessage(undefined, sent)).toBe(isOnWeb);
        await allow(true);
      },
    );
  });

  it('a file that was edited out of its message can be read only by its owner', async () => {
    const sent = await send();
    await organisation.do('member', 'PATCH', `messages/${sent.messageId}`, { content: 'no cat' });
    for (const reader of [...readers, 'member'] as const) {
      expect(await readsMessage(reader, sent)).toBe(true);
      expect(await readsFile(reader, sent)).toBe(reader === 'member');
    }
  });

  it('a file of several messages can be read if one of them is web-public', async () => {
    const sent = await send();
    await sendMessage(
      organisation,
      'member',
      toChannel(elsewhere.archived),
      `[x](/user_uploads/${sent.path})`,
    );
    expect(await readsFile(undefined, sent)).toBe(true);
    await organisation.do('owner', 'DELETE', `streams/${sent.channelId}`);
    expect(await readsFile(undefined, sent)).toBe(false);
    await sendMessage(organisation, 'member', toChannel(elsewhere.onWeb), `[x](/user_uploads/${sent.path})`);
    expect(await readsFile(undefined, sent)).toBe(true);
  });
});
