import MarkdownIt from 'markdown-it';

/** Escapes `&`, `<`, `>` and `"`, for text content and for attribute values in double quotes. */
export const escapeHtml: (text: string) => string = new MarkdownIt('zero').utils.escapeHtml;
