import { ProtocolError } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import type { EditFacts } from '#server/conversations/messages/edit/edit-facts.js';
import type { EditRequest } from '#server/conversations/messages/edit/edit-request.js';
import { planEdit } from '#server/conversations/messages/edit/plan-edit.js';
import { roles } from '#server/platform/authentication/roles.js';
import { channelId, messageId } from '../../../../support/ids.js';
import { accessTo, contentOf, factsOf, now, wishOf } from './edit-facts-under-test.js';

const day = 86_400;

function refusal(facts: EditFacts, wish: Partial<EditRequest>): ProtocolError | undefined {
  try {
    planEdit(facts, wishOf(wish));
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  return undefined;
}

const said = (facts: EditFacts, wish: Partial<EditRequest>) => refusal(facts, wish)?.message ?? 'done';
const moved = (fields: Parameters<typeof factsOf>[0] = {}) => factsOf({ target: accessTo(2), ...fields });
const away = { channelId: channelId(2) };

it('the plan of a move says whether the topic or the channel changes, and announces no resolution', () => {
  const plan = (wish: Partial<EditRequest>) => planEdit(moved(), wishOf(wish)).move;
  const told = { notifiesNewThread: true, notifiesResolution: false };
  expect(plan(away)).toMatchObject({ isChannelChanged: true, isTopicChanged: false, ...told });
  expect(plan({ topic: 'dinner' })).toMatchObject({ isChannelChanged: false, isTopicChanged: true, ...told });
});

describe('resolving a topic', () => {
  const resolve = { topic: '✔ lunch', propagateMode: 'change_all' } as const;

  it('requires can_resolve_topics_group of the organization or the channel, for every role', () => {
    const origin = accessTo(1, { role: roles.owner });
    expect(said(factsOf({ role: roles.owner, origin, held: [] }), resolve)).toContain('resolve topics');
    const allowed = accessTo(1, { held: ['can_resolve_topics_group'] });
    expect(said(factsOf({ origin: allowed, held: [] }), resolve)).toBe('done');
  });

  it('has no time limit, like reopening a topic', () => {
    const counted = { total: 9, movable: 0, firstMovableId: null };
    const message = { sentAt: 0 };
    expect(said(factsOf({ counted, message }), resolve)).toBe('done');
    const open = { topic: 'lunch', propagateMode: 'change_all' } as const;
    expect(said(factsOf({ counted, message: { ...message, topic: '✔ ✔✔ lunch' } }), open)).toBe('done');
  });

  it('still counts as resolving if the mark makes the topic too long', () => {
    const topic = 'x'.repeat(60);
    const plan = planEdit(factsOf({ message: { topic } }), wishOf({ topic: `✔ ${topic}` }));
    expect(plan.move).toMatchObject({ resolution: 'resolved', to: { topic: `✔ ${'x'.repeat(55)}...` } });
  });

  it('posts only the resolution notice, and no notice if the content also changes', () => {
    const plan = planEdit(factsOf(), wishOf(resolve));
    expect(plan.move).toMatchObject({ notifiesResolution: true, notifiesNewThread: false });
    const both = planEdit(
      factsOf({ content: contentOf('x') }),
      wishOf({ ...resolve, propagateMode: 'change_one', content: 'x' }),
    );
    expect(both.move).toMatchObject({ notifiesResolution: false, notifiesNewThread: false });
  });

  it('does not bypass the time limit of a move to another channel', () => {
    const counted = { total: 9, movable: 3, firstMovableId: messageId(7) };
    expect(refusal(moved({ counted }), { ...resolve, ...away })?.code).toBe(
      'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    );
    expect(planEdit(moved(), wishOf({ ...resolve, ...away })).move?.notifiesNewThread).toBe(true);
  });
});

describe('changing the topic', () => {
  const dinner = { topic: 'dinner' };

  it('requires the permission of the organization or of a channel, or an administrator of either', () => {
    expect(said(factsOf({ held: [] }), dinner)).toContain('permission to edit');
    for (const held of ['can_move_messages_within_channel_group', 'can_administer_channel_group'])
      expect(said(factsOf({ held: [], origin: accessTo(1, { held: [held] }) }), dinner)).toBe('done');
    for (const role of [roles.owner, roles.administrator])
      expect(said(factsOf({ role, held: [], origin: accessTo(1, { role }) }), dinner)).toBe('done');
    const moderator = accessTo(1, { role: roles.moderator });
    expect(said(factsOf({ role: roles.moderator, held: [], origin: moderator }), dinner)).toContain(
      'permission',
    );
  });

  it('is also allowed by the new channel’s permission', () => {
    const target = accessTo(2, { held: ['can_move_messages_within_channel_group'] });
    const facts = moved({ target, held: ['can_move_messages_between_channels_group'] });
    expect(said(facts, { ...dinner, ...away })).toBe('done');
  });

  it('is allowed until 20 seconds after move_messages_within_stream_limit_seconds, and at any time for moderators and above', () => {
    const aged = (seconds: number, role = roles.member as (typeof roles)[keyof typeof roles]) =>
      factsOf({ role, message: { sentAt: now - seconds * 1000 } });
    expect(said(aged(7 * day + 20), dinner)).toBe('done');
    expect(said(aged(7 * day + 20.001), dinner)).toContain('topic has passed');
    for (const role of [roles.moderator, roles.administrator, roles.owner])
      expect(said(aged(1e8, role), dinner)).toBe('done');
  });
});

describe('changing the channel', () => {
  it('requires a channel that the actor can read and that is not archived', () => {
    const unread = accessTo(2, { isSubscribed: false, channel: { isPrivate: true } });
    const archived = accessTo(2, { channel: { isArchived: true } });
    for (const target of [undefined, unread, archived])
      expect(said(moved({ target }), away)).toBe('Invalid channel ID');
  });

  it('requires the permission of the organization or of the old channel, or an administrator of either', () => {
    expect(said(moved({ held: [] }), away)).toContain('permission to move');
    for (const held of ['can_move_messages_out_of_channel_group', 'can_administer_channel_group']) {
      expect(said(moved({ held: [], origin: accessTo(1, { held: [held] }) }), away)).toBe('done');
      expect(said(moved({ held: [], target: accessTo(2, { held: [held] }) }), away)).toContain('permission');
    }
  });

  it('requires the right to post in the new channel', () => {
    const target = { ...accessTo(2), held: new Set<never>() };
    expect(said(moved({ target }), away)).toContain('Not authorized to send');
  });

  it('is allowed until 20 seconds after move_messages_between_streams_limit_seconds, and at any time for moderators and above', () => {
    const aged = (seconds: number, role = roles.member as (typeof roles)[keyof typeof roles]) =>
      moved({ role, message: { sentAt: now - seconds * 1000 } });
    expect(said(aged(7 * day + 20), away)).toBe('done');
    expect(said(aged(7 * day + 21), away)).toContain('channel has passed');
    expect(said(aged(7 * day + 21, roles.moderator), away)).toBe('done');
  });
});

describe('moving a whole topic', () => {
  const counted = { total: 9, movable: 3, firstMovableId: messageId(7) };
  const all = { topic: 'dinner', propagateMode: 'change_all' } as const;

  it('is refused if some of its messages are past the limit, and the error counts the messages that can be moved', () => {
    expect(refusal(factsOf({ counted }), all)).toMatchObject({
      code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
      fields: {
        first_message_id_allowed_to_move: 7,
        total_messages_in_topic: 9,
        total_messages_allowed_to_move: 3,
      },
    });
  });

  it('is allowed for moderators, in other modes, without limits, or if all messages are within the limit', () => {
    expect(said(factsOf({ counted, role: roles.moderator }), all)).toBe('done');
    expect(said(factsOf({ counted }), { ...all, propagateMode: 'change_later' })).toBe('done');
    expect(said(factsOf({ counted: { ...counted, movable: 9 } }), all)).toBe('done');
    const settings = { move_messages_within_stream_limit_seconds: null };
    expect(said(factsOf({ counted, settings }), all)).toBe('done');
  });
});
