import MarkdownIt from 'markdown-it';

/** Escapes `&`, `<`, `>` and `"`, so that a text is the same text in HTML, also within an attribute. */
export const escapeHtml: (text: string) => string = new MarkdownIt('zero').utils.escapeHtml;
