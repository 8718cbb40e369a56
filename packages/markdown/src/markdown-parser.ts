import MarkdownParser, { type MarkdownIt } from 'markdown-it';
import { channelLinks } from './rules/channel-links.js';
import { emoji } from './rules/emoji.js';
import { fences } from './rules/fences.js';
import { globalTimes } from './rules/global-times.js';
import { inlineMath } from './rules/inline-math.js';
import { linkifiers } from './rules/linkifiers.js';
import { listIndentation } from './rules/list-indentation.js';
import { mentions } from './rules/mentions.js';
import { safeLinks } from './rules/safe-links.js';
import { textStyles } from './rules/text-styles.js';

/**
 * Maximum nesting depth of blocks. A text that reaches this depth is shown as typed, because the parser would drop more
 * deeply nested content.
 */
export const maxNesting = 50;

/**
 * The markdown-it parser with the rules for chat Markdown. Raw HTML is escaped. Backslash escapes, images and link
 * reference definitions are treated as plain text.
 */
export const markdownParser: MarkdownIt = new MarkdownParser({
  html: false,
  breaks: true,
  linkify: true,
  maxNesting,
})
  .disable(['escape', 'image', 'reference', 'lheading', 'html_block', 'html_inline'])
  .use(textStyles)
  .use(mentions)
  .use(channelLinks)
  .use(inlineMath)
  .use(emoji)
  .use(globalTimes)
  .use(fences)
  .use(listIndentation)
  .use(safeLinks)
  .use(linkifiers);
