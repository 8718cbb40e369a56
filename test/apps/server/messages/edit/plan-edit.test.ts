import { ProtocolError } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import type { EditFacts } from '#server/conversations/messages/edit/edit-facts.js';
import type { EditRequest } from '#server/conversations/messages/edit/edit-request.js';
import { planEdit } from '#server/conversations/messages/edit/plan-edit.js';
import { roles } from '#server/platform/authentication/roles.js';
import { channelId, userId } from '../../../../support/ids.js';
import { accessTo, contentOf, factsOf, now, sha256, wishOf } from './edit-facts-under-test.js';

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
const edited = (fields: Parameters<typeof factsOf>[0] = {}) =>
  factsOf({ content: contentOf('good bye'), ...fields });
const content = { content: 'good bye' };

describe('the message of an edit', () => {
  it('gets the same error if it is missing, unreadable or in an archived channel', () => {
    const archived = factsOf({ origin: accessTo(1, { channel: { isArchived: true } }) });
    expect(said({ ...factsOf(), message: undefined }, content)).toBe('Invalid message(s)');
    expect(said(archived, content)).toBe('Invalid message(s)');
  });

  it('must change: setting its current topic or channel is not a change', () => {
    for (const wish of [{}, { topic: ' lunch ' }, { channelId: channelId(1) }])
      expect(said(factsOf(), wish)).toBe('Nothing to change');
  });

  it('cannot get a topic or channel if it is a direct message', () => {
    const direct = factsOf({ origin: undefined, message: { channelId: undefined, topic: '' } });
    expect(said(direct, { channelId: channelId(1) })).toContain('cannot be moved to channels');
    expect(said(direct, { topic: 'x' })).toContain('cannot have topics');
    expect(said({ ...direct, content: contentOf('x') }, { content: 'x' })).toBe('done');
  });

  it('takes only change_one if only its content changes', () => {
    for (const propagateMode of ['change_later', 'change_all'] as const)
      expect(said(edited(), { ...content, propagateMode })).toContain('propagate_mode');
  });
});

describe('editing content', () => {
  it('is refused for all users if editing is turned off', () => {
    const off = edited({ role: roles.owner, settings: { allow_message_editing: false } });
    expect(said(off, content)).toContain('turned off');
  });

  it('is allowed only for the sender, regardless of the roles of other users', () => {
    for (const role of Object.values(roles))
      expect(said(edited({ role, message: { senderId: userId(2) } }), content)).toContain('permission');
  });

  it('is allowed until 20 seconds after the limit, even for administrators, and at any time if the limit is null', () => {
    const aged = (seconds: number, limit: number | null = 600) =>
      edited({
        role: roles.administrator,
        settings: { message_content_edit_limit_seconds: limit },
        message: { sentAt: now - seconds * 1000 },
      });
    expect(said(aged(620), content)).toBe('done');
    expect(said(aged(620.001), content)).toContain('time limit');
    expect(said(aged(1e9, null), content)).toBe('done');
  });

  it('cannot be combined with a move to another channel', () => {
    const facts = edited({ target: accessTo(2) });
    expect(said(facts, { ...content, channelId: channelId(2) })).toContain('while changing channel');
    expect(said(facts, { ...content, channelId: channelId(1) })).toContain('while changing channel');
  });

  it('requires that a given hash matches the current content, even if only the topic changes', () => {
    for (const wish of [content, { topic: 'dinner' }]) {
      const facts = 'content' in wish ? edited() : factsOf();
      expect(said(facts, { ...wish, prevContentSha256: sha256('hello') })).toBe('done');
      expect(refusal(facts, { ...wish, prevContentSha256: sha256('Hello') })).toMatchObject({
        code: 'EXPECTATION_MISMATCH',
        fields: { field_name: 'prev_content_sha256' },
      });
    }
  });

  it('requires can_mention_many_users_group to mention a channel of more than 15 users', () => {
    const all = (subscribers: number, held?: string[]) =>
      edited({ content: contentOf('@**all**', { subscribers }), ...(held && { held }) });
    expect(said(all(15), { content: '@**all**' })).toBe('done');
    expect(refusal(all(16), { content: '@**all**' })?.code).toBe('STREAM_WILDCARD_MENTION_NOT_ALLOWED');
    expect(said(all(16, ['can_mention_many_users_group']), { content: '@**all**' })).toBe('done');
  });

  it('requires can_mention_many_users_group to mention a topic of more than 15 participants', () => {
    const all = (participants: number, text = '@**topic**') =>
      edited({ content: contentOf(text, { participants, subscribers: 99 }) });
    expect(said(all(15), { content: 'x' })).toBe('done');
    expect(refusal(all(16), { content: 'x' })?.code).toBe('TOPIC_WILDCARD_MENTION_NOT_ALLOWED');
    for (const free of ['@_**topic**', '@_**all**', '`@**all**`', '> @**all**'])
      expect(said(all(16, free), { content: 'x' })).toBe('done');
  });

  it('refuses by name a group that the sender cannot mention', () => {
    const facts = edited({ content: contentOf('x', { forbiddenGroups: ['cooks'] }) });
    expect(said(facts, content)).toContain("'cooks'");
  });
});

describe('a new topic', () => {
  it('cannot be the resolved mark alone or before the empty topic', () => {
    for (const topic of ['✔', ' ✔ ', '✔ general chat'])
      expect(said(factsOf(), { topic })).toContain('cannot be marked as resolved');
  });

  it('cannot have control characters, surrogates or non-characters; the error names the position', () => {
    for (const bad of ['\0', '\u0085', '\uD800', '\uFFFE', '\u{1FFFF}'])
      expect(said(factsOf(), { topic: `a😀${bad}b` })).toContain('position 3');
  });

  it('is truncated to 60 code points, with an ellipsis', () => {
    const plan = planEdit(factsOf(), wishOf({ topic: '😀'.repeat(61) }));
    expect(plan.move?.to.topic).toBe(`${'😀'.repeat(57)}...`);
    expect(planEdit(factsOf(), wishOf({ topic: 'x'.repeat(60) })).move?.to.topic).toBe('x'.repeat(60));
  });

  it('is the empty topic if given by its display name', () => {
    expect(planEdit(factsOf(), wishOf({ topic: ' general chat ' })).move?.to.topic).toBe('');
  });

  it('cannot be empty where topics are required, whether kept or new', () => {
    const facts = (topicsPolicy: 'inherit' | 'disable_empty_topic', topic = 'lunch') =>
      factsOf({
        target: accessTo(2, { channel: { topicsPolicy } }),
        origin: accessTo(1, { channel: { topicsPolicy } }),
        message: { topic },
        settings: topicsPolicy === 'inherit' ? { topics_policy: 'disable_empty_topic' } : {},
      });
    for (const policy of ['inherit', 'disable_empty_topic'] as const) {
      for (const topic of ['', 'general chat', '(no topic)']) {
        const refused = refusal(facts(policy), { topic });
        expect(refused?.fields).toEqual({ empty_topic_display_name: 'general chat' });
      }
      expect(said(facts(policy, ''), { channelId: channelId(2) })).toContain('not allowed');
      expect(said({ ...facts(policy, ''), content: contentOf('x') }, { content: 'x' })).toBe('done');
    }
  });

  it('must be empty if the channel allows only the empty topic, even if only the content changes', () => {
    const access = accessTo(1, { channel: { topicsPolicy: 'empty_topic_only' } });
    expect(refusal(edited({ origin: access }), content)?.fields).toHaveProperty('empty_topic_display_name');
    expect(said(factsOf({ origin: access }), { topic: '' })).toBe('done');
  });

  it('requires can_create_topic_group if it has no messages, unless the edit resolves the topic', () => {
    const access = { ...accessTo(1), held: new Set<never>() };
    const facts = factsOf({ origin: access, isTopicNew: true });
    expect(said(facts, { topic: 'dinner' })).toContain('create new topics');
    expect(said({ ...facts, isTopicNew: false }, { topic: 'dinner' })).toBe('done');
    expect(said(facts, { topic: '✔ lunch' })).toBe('done');
  });
});
