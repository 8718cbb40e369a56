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

/** How deep blocks may nest. The parser drops what is deeper, so a text that gets there is shown as typed. */
export const maxNesting = 50;

/** The parser with the flavour's rules. Raw HTML is never let through; backslashes, images and references are text. */
export const flavour: MarkdownIt = new MarkdownParser({
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
