import type { MarkdownIt, StateCore, Token } from 'markdown-it';
import { renderingOf } from '../rendering.js';

const scheme = /^[a-z][a-z0-9+.-]*:/i;
const externalUrl = /^(?:https?:\/\/[^/?#\s]+|mailto:[^\s])/i;
const conversationLink = /^\/?#narrow\//;
// Excludes dot segments, including percent-encoded ones, because a browser would resolve such a link to a different
// path.
const uploadLink = /^\/user_uploads(?!.*\/(?:\.|%2e){1,2}(?:[/?#]|$))\//i;

/** Fast path for common URLs that normalization does not change, because parsing a URL is slow. */
const plainAddress =
  /^(?!.*xn--)(?:https?:\/\/|mailto:[\w.+-]+@)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*(?:[/?#][\w./?#&=+-]*)?$/i;
const maxPlainLength = 255;

const mayContainUrl = /[^\s.][.@][^\s.]|:\/\/|mailto:/;

/** Matches words without a scheme that are more likely file names than host names. */
const fileNames = /^[^/?#]*\.(?:java|md|mov|py|zip)(?:[/?#]|$)/i;

/**
 * Rule that restricts links to `http:`, `https:` and `mailto:` URLs and to the organization's own conversations and
 * uploads. All other links stay as typed. Bare URLs become links, and links into the organization become relative.
 */
export function safeLinks(md: MarkdownIt): void {
  const normalize = md.normalizeLink.bind(md);
  const normalizeText = md.normalizeLinkText.bind(md);
  md.normalizeLink = (url) => (isPlain(url) ? url : normalize(completeUrl(url.trim())));
  md.normalizeLinkText = (url) => (isPlain(url) ? url : normalizeText(url));
  md.validateLink = (url) => externalUrl.test(url) || conversationLink.test(url) || uploadLink.test(url);

  // Disables protocol-relative and `ftp:` URLs, which are not links here, because searching for them is slow.
  md.linkify.set({ fuzzyLink: true }).add('//', null).add('ftp:', null);
  // linkify-it searches in `test` and again in `match`. A cheap check in `test` avoids the first search.
  md.linkify.test = (text) => mayContainUrl.test(text);
  const match = md.linkify.match.bind(md.linkify);
  md.linkify.match = (text) =>
    (match(text) ?? []).filter((link) => link.schema !== '' || !fileNames.test(link.text));

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

/** Completes a URL without a scheme, which can be an upload, an email address or a host name. */
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
      // An empty target, `[text]()`, is shown as typed.
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
  return uploadLink.test(path) ? path : href;
}

/**
 * Returns the percent-decoded path id of the upload that a rendered link points to. Returns undefined for other links.
 */
export function uploadPathId(md: MarkdownIt, href: string): string | undefined {
  if (!uploadLink.test(href)) return undefined;
  const path = href.slice('/user_uploads/'.length).replace(/[?#].*$/, '');
  return path === '' ? undefined : md.utils.lib.mdurl.decode(path);
}
