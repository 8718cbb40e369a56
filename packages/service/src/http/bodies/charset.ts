import { ProtocolError } from '@waxwing/protocol';
import { headerParameters } from './header-parameters.js';

/** The HTML form field that specifies the form's charset (https://www.rfc-editor.org/rfc/rfc7578#section-4.6). */
export const charsetField = '_charset_';

/**
 * Requires that text is declared as UTF-8, or as its subset ASCII. Text in another charset would be misread as UTF-8.
 * An empty name means that no charset was declared.
 * @throws ProtocolError UNSUPPORTED_MEDIA_TYPE for another charset
 */
export function requireUtf8(charset: string): void {
  const name = charset.trim();
  if (name === '' || /^(?:us-)?ascii$/i.test(name) || isNameOfUtf8(name)) return;
  throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
    message: `Unsupported charset: ${name.slice(0, 40)}: send the body in UTF-8`,
  });
}

/**
 * Requires that a content type specifies UTF-8 or no charset.
 * @throws ProtocolError UNSUPPORTED_MEDIA_TYPE for any other charset; BAD_REQUEST for a repeated parameter
 */
export function requireUtf8Type(contentType: string): void {
  requireUtf8(headerParameters(contentType).get('charset') ?? '');
}

/** Whether a charset name is a label for UTF-8, such as `utf8` (https://encoding.spec.whatwg.org/#names-and-labels). */
function isNameOfUtf8(name: string): boolean {
  try {
    return new TextDecoder(name).encoding === 'utf-8';
  } catch {
    return false;
  }
}
