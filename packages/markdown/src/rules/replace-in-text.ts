import type { StateCore, Token } from 'markdown-it';

/** A range of a text token that a separate token replaces. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly content: string;
  readonly meta: Record<string, unknown>;
}

/**
 * Replaces the ranges that `find` returns for each text token. Ranges must be in order and must not overlap. `inLinks`
 * determines whether to search the text of links; default: true.
 */
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
      splitToken(state, token, find(token.content), replaced);
    else replaced.push(token);
  }
  return replaced;
}

/** Appends the token, split around its replacements, to `tokens`. */
function splitToken(
  state: StateCore,
  token: Token,
  replacements: Iterable<Replacement>,
  tokens: Token[],
): void {
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
