import type { GroupId, UserId } from '@waxwing/protocol';
import type { MarkdownIt, StateInline } from 'markdown-it';
import { readGroupMention, readUserMention, type UserMention, wildcardOf } from '../reference-syntax.js';
import { renderingOf } from '../rendering.js';

/** The metadata of a mention token. `collectReferences` makes the mention silent if it is in a quote. */
export type Mention = { readonly text: string; isSilent: boolean } & (
  | { readonly kind: 'user'; readonly id: UserId }
  | { readonly kind: 'group'; readonly id: GroupId }
  | { readonly kind: 'channel' | 'topic' }
);

/** Rule for mentions: `@**Name**`, `@**Name|id**`, wildcards, `@*group*`, and their silent forms with `@_`. */
export function mentions(md: MarkdownIt): void {
  md.inline.ruler.before('emphasis', 'mention', (state, silent) => {
    if (state.src[state.pos] !== '@') return false;
    const mention = readMention(state);
    if (mention === undefined || mention.end > state.posMax) return false;
    if (!silent) state.push('mention', 'span', 0).meta = { mention: mention.mention };
    state.pos = mention.end;
    return true;
  });
  md.renderer.rules.mention = (tokens, index) => {
    const mention = tokens[index]?.meta?.mention as Mention;
    const classes = mention.isSilent ? `${classOf[mention.kind]} silent` : classOf[mention.kind];
    const text = md.utils.escapeHtml(mention.isSilent ? mention.text : `@${mention.text}`);
    return `<span class="${classes}"${dataOf(mention)}>${text}</span>`;
  };
}

const classOf = {
  user: 'user-mention',
  group: 'user-group-mention',
  channel: 'user-mention channel-wildcard-mention',
  topic: 'topic-mention',
};

function dataOf(mention: Mention): string {
  if (mention.kind === 'user') return ` data-user-id="${mention.id}"`;
  if (mention.kind === 'group') return ` data-user-group-id="${mention.id}"`;
  return mention.kind === 'channel' ? ' data-user-id="*"' : '';
}

function readMention(state: StateInline): { end: number; mention: Mention } | undefined {
  const user = readUserMention(state.src, state.pos);
  if (user !== undefined) {
    const mention = resolveUser(state, user);
    return mention && { end: user.end, mention };
  }
  const typed = readGroupMention(state.src, state.pos);
  const group = typed && renderingOf(state.env).facts.group(typed.name);
  if (typed === undefined || group === undefined) return undefined;
  const isSilent = typed.isSilent || !group.isActive;
  return { end: typed.end, mention: { kind: 'group', id: group.groupId, text: group.displayName, isSilent } };
}

function resolveUser(state: StateInline, typed: UserMention): Mention | undefined {
  const wildcard = wildcardOf(typed.text);
  if (wildcard !== undefined) return { kind: wildcard, text: typed.text, isSilent: typed.isSilent };
  const user = renderingOf(state.env).facts.user(typed.name, typed.userId);
  if (user === undefined) return undefined;
  const isSilent = typed.isSilent || !user.isActive;
  return { kind: 'user', id: user.userId, text: user.fullName, isSilent };
}
