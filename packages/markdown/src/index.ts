export { isKnownLanguage, knownLanguages, resolveLanguage } from './code/language-names.js';
export type { References } from './collect-references.js';
export { contentHtmlDiff, replacementHtmlDiff } from './content-html-diff.js';
export { emojiCode, emojiCodeToNames, emojiOf } from './emoji/emoji-names.js';
export { escapeHtml } from './escape-html.js';
export { findReferences, type TextReferences } from './find-references.js';
export { channelHash, encodeHash, topicHash } from './hash-encoding.js';
export { type Linkifier, type LinkifierProblem, parseLinkifier } from './linkifier.js';
export { linkifierExampleProblem } from './linkifier-example.js';
export type {
  CustomEmoji,
  LinkableChannel,
  LinkableTopic,
  MarkdownFacts,
  MentionableGroup,
  MentionableUser,
} from './markdown-facts.js';
export { plainText } from './plain-text.js';
export { type RenderedMarkdown, renderMarkdown } from './render-markdown.js';
export { urlTemplateFormProblem, urlTemplateVariables } from './url-template.js';
export { hasVisibleCharacter, invisibleCharacters } from './visible-text.js';
