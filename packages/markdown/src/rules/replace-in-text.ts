import type { StateCore, Token } from 'markdown-it';

/** A part of a text that becomes a token of its own. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly content: string;
  readonly meta: Record<string, unknown>;
}

/** Cuts what `find` names out of the text of every paragraph; what stands in links is left alone unless `inLinks`. */
export function replaceInText(
  state: StateCore,
  find: (text: string) => Iterable<Replacement>,
  { inLinks = true }: { readonly inLinks?: boolean } = {},
): void {
  for (const block of state.tokens) {
    if (block.type !== 'inline' || block.children === null) continue;
    block.children = replaceInTokens(state, block.children, find, inLinks);
  }
}

function replaceInTokens(
  state: StateCore,
  tokens: readonly Token[],
  find: (text: string) => Iterable<Replacement>,
  inLinks: boolean,
): Token[] {
  const replaced: Token[] = [];
  let linkDepth = 0;
  for (const token of tokens) {
    if (token.type === 'link_open') linkDepth += 1;
    if (token.type === 'link_close') linkDepth -= 1;
    if (token.type === 'text' && (inLinks || linkDepth === 0))
      cut(state, token, find(token.content), replaced);
    else replaced.push(token);
  }
  return replaced;
}

/** Adds the token to `tokens`, in parts where anything in it is replaced. */
function cut(state: StateCore, token: Token, replacements: Iterable<Replacement>, tokens: Token[]): void {
  const countBefore = tokens.length;
  let end = 0;
  const pushText = (until: number) => {
    if (until <= end) return;
    const text = new state.Token('text', '', 0);
    text.content = token.content.slice(end, until);
    text.level = token.level;
    tokens.push(text);
  };
  for (const replacement of replacements) {
    pushText(replacement.start);
    const replaced = new state.Token(replacement.type, '', 0);
    replaced.content = replacement.content;
    replaced.level = token.level;
    replaced.meta = replacement.meta;
    tokens.push(replaced);
    end = replacement.end;
  }
  if (tokens.length === countBefore) tokens.push(token);
  else pushText(token.content.length);
}
