import type { MarkdownIt, StateCore, Token } from 'markdown-it';
import { renderingOf } from '../rendering.js';

const scheme = /^[a-z][a-z0-9+.-]*:/i;
const outside = /^(?:https?:\/\/[^/?#\s]+|mailto:[^\s])/i;
const conversation = /^\/?#narrow\//;
// Without segments of dots, also encoded ones, which browsers resolve to a path elsewhere.
const upload = /^\/user_uploads(?!.*\/(?:\.|%2e){1,2}(?:[/?#]|$))\//i;

/** Addresses that stay as they are, most of all, so that they need not be taken apart: that takes long. */
const plainAddress =
  /^(?!.*xn--)(?:https?:\/\/|mailto:[\w.+-]+@)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?:[/?#][\w./?#&=+-]*)?$/i;
const maxPlainLength = 255;

const mayHoldAddress = /[^\s.][.@][^\s.]|:\/\/|mailto:/;

/** Words that are more often the name of a file than of a host. */
const fileEndings = /^[^/?#]*\.(?:java|md|mov|py|zip)(?:[/?#]|$)/i;

/**
 * Links lead outside by http, https and mailto, or to the organisation's own conversations and uploads, and nowhere
 * else; any other is left as typed. Bare addresses become links, and links into the own organisation become relative.
 */
export function safeLinks(md: MarkdownIt): void {
  const normalize = md.normalizeLink.bind(md);
  const normalizeText = md.normalizeLinkText.bind(md);
  md.normalizeLink = (url) => (isPlain(url) ? url : normalize(completeUrl(url.trim())));
  md.normalizeLinkText = (url) => (isPlain(url) ? url : normalizeText(url));
  md.validateLink = (url) => outside.test(url) || conversation.test(url) || upload.test(url);

  // Addresses without a scheme behind two slashes are none here, and looking for them takes long.
  md.linkify.set({ fuzzyLink: true }).add('//', null).add('ftp:', null);
  // Searching is dear, so it is done once and only where there can be an address at all.
  md.linkify.test = (text) => mayHoldAddress.test(text);
  const match = md.linkify.match.bind(md.linkify);
  md.linkify.match = (text) =>
    (match(text) ?? []).filter((link) => link.schema !== '' || !fileEndings.test(link.text));

  md.core.ruler.push('safe_links', (state) => {
    const { realmUrl } = renderingOf(state.env).facts;
    for (const block of state.tokens) {
      if (block.children?.some((token) => token.type === 'link_open')) {
        block.children = finishLinks(state, block.children, realmUrl);
      }
    }
  });
}

function isPlain(url: string): boolean {
  return url.length <= maxPlainLength && plainAddress.test(url);
}

/** What has no scheme is an address of mail, an upload, or a host. */
function completeUrl(url: string): string {
  if (url === '' || scheme.test(url) || url.startsWith('/') || url.startsWith('#')) return url;
  if (url.startsWith('user_uploads/')) return `/${url}`;
  return /^[^/]*@/.test(url) ? `mailto:${url}` : `http://${url}`;
}

function finishLinks(state: StateCore, tokens: readonly Token[], realmUrl: string): Token[] {
  const openIndexes: number[] = [];
  const finished: Token[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'link_open') {
      openIndexes.push(index);
      const href = String(token.attrGet('href'));
      // A link to nowhere, `[text]()`, is what was typed.
      if (href === '') finished.push(textToken(state, token, '['));
      else {
        token.attrSet('href', relativeTo(realmUrl, href));
        finished.push(token);
      }
    } else if (token.type === 'link_close') {
      const openIndex = openIndexes.pop();
      const opening = tokens[openIndex ?? index] as Token;
      const href = String(opening.attrGet('href'));
      if (href === '') finished.push(textToken(state, token, ']()'));
      else {
        if (isBlank(tokens.slice((openIndex ?? index) + 1, index)))
          finished.push(textToken(state, token, href));
        finished.push(token);
      }
    } else finished.push(token);
  }
  return finished;
}

function isBlank(label: readonly Token[]): boolean {
  return label.every((token) => token.type === 'text' && token.content.trim() === '');
}

function textToken(state: StateCore, { level }: Token, content: string): Token {
  const token = new state.Token('text', '', 0);
  token.content = content;
  token.level = level;
  return token;
}

function relativeTo(realmUrl: string, href: string): string {
  if (!href.toLowerCase().startsWith(`${realmUrl.toLowerCase()}/`)) return href;
  const path = href.slice(realmUrl.length);
  if (path.startsWith('/#narrow/')) return path.slice(1);
  return upload.test(path) ? path : href;
}

/** The path id of the upload that a finished link leads to; undefined when it leads elsewhere. */
export function uploadPathId(md: MarkdownIt, href: string): string | undefined {
  if (!upload.test(href)) return undefined;
  const path = href.slice('/user_uploads/'.length).replace(/[?#].*$/, '');
  return path === '' ? undefined : md.utils.lib.mdurl.decode(path);
}
