import { describe, expect, it } from 'vitest';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import { checkRemoval, type RemovalFacts } from '#server/conversations/messages/removal/plan-removal.js';
import { userId } from '../../../../support/ids.js';

const now = 1_000_000_000;
const me = userId(7);
const any = 'can_delete_any_message_group';
const own = 'can_delete_own_message_group';

interface Case {
  readonly sender?: 'me' | 'my bot' | 'another';
  readonly realm?: readonly (typeof any | typeof own)[];
  /** The actor's permissions in the channel. Omitted for a direct message. */
  readonly channel?: readonly (typeof any | typeof own)[] | undefined;
  readonly isArchived?: boolean;
  readonly limit?: number | null;
  readonly age?: number;
}

function said(c: Case, message?: 'absent'): string {
  const { sender = 'me', realm = [], limit = null, age = 0, isArchived = false } = c;
  const facts: RemovalFacts = {
    now,
    actorId: me,
    botOwnerId: sender === 'my bot' ? me : undefined,
    settings: { message_content_delete_limit_seconds: limit },
    held: new Set(realm),
    message:
      message === 'absent' ? undefined : { senderId: sender === 'me' ? me : userId(8), sentAt: now - age },
    access: c.channel && { channel: { isArchived } as Channel, held: new Set(c.channel) },
  };
  try {
    checkRemoval(facts);
    return 'done';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('deleting a message', () => {
  it('requires a permission for own or any messages if the actor or the actor’s bot sent the message', () => {
    for (const sender of ['me', 'my bot'] as const) {
      for (const name of [own, any] as const) {
        expect(said({ sender, realm: [name] })).toBe('done');
        expect(said({ sender, realm: [name], channel: [] })).toBe('done');
        expect(said({ sender, channel: [name] })).toBe('done');
      }
      expect(said({ sender })).toContain('permission');
      expect(said({ sender, channel: [] })).toContain('permission');
    }
  });

  it('requires a permission for any message if another user sent the message', () => {
    expect(said({ sender: 'another', realm: [own], channel: [own] })).toContain('permission');
    expect(said({ sender: 'another', realm: [any], channel: [] })).toBe('done');
    expect(said({ sender: 'another', channel: [any] })).toBe('done');
  });

  it('is possible exactly until the limit, and at any time with the permission for any message', () => {
    expect(said({ realm: [own], limit: 60, age: 60_000 })).toBe('done');
    expect(said({ realm: [own], limit: 60, age: 60_001 })).toContain('time limit');
    expect(said({ realm: [own], limit: null, age: now })).toBe('done');
    expect(said({ realm: [any], limit: 60, age: now })).toBe('done');
    expect(said({ realm: [own], channel: [any], limit: 60, age: now })).toBe('done');
  });

  it('is refused for all users if the message is missing or its channel is archived', () => {
    expect(said({ realm: [any, own] }, 'absent')).toBe('Invalid message(s)');
    expect(said({ realm: [any, own], channel: [any], isArchived: true })).toBe('Invalid message(s)');
  });
});
