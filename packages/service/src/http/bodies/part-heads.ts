import type { BusboyInstance } from '@fastify/busboy';
import { ProtocolError, refused } from '@waxwing/protocol';
import { requireUtf8, requireUtf8Type } from './charset.js';
import { headerParameters } from './header-parameters.js';
import { decodeUtf8, percentDecode } from './percent-encoding.js';

/** The headers of one part of a multipart form. Names are in lowercase, and values have one character per byte. */
type PartHeaders = Record<string, readonly string[] | undefined>;

/** The parser stage that reads part headers. Needed because the parser's public events omit the charset. */
interface HeadParser {
  prependListener(event: 'part', listener: (part: NodeJS.EventEmitter) => void): this;
}

export const withoutName =
  'Each part of a multipart form must have a name: Content-Disposition: form-data; name="content"';
const incompleteHead = 'Each part of a multipart form must have an empty line after its headers';

/**
 * Refuses parts that the parser would skip or misread, before the parser emits them: BAD_REQUEST for a part without a
 * name, a repeated header or parameter, or a name that is not valid UTF-8; UNSUPPORTED_MEDIA_TYPE for text in another
 * charset or an encoded part. All remaining fields have the parser's default charset.
 */
export function checkParts(parser: BusboyInstance, refuse: (error: Error) => void): void {
  const { _parser: multipart } = parser as unknown as { readonly _parser: { readonly parser: HeadParser } };
  let isInHead = false;
  const requireWholeHead = (): void => {
    if (isInHead) refuse(refused(incompleteHead));
  };
  multipart.parser.prependListener('part', (part) => {
    requireWholeHead();
    isInHead = true;
    part.prependOnceListener('header', (headers: PartHeaders) => {
      isInHead = false;
      attempt(() => checkHead(headers), refuse);
    });
  });
  parser.on('finish', requireWholeHead);
}

/**
 * Runs a check and passes its error to `refuse`, because an error thrown in a parser event handler would crash the
 * process.
 */
export function attempt(check: () => void, refuse: (error: Error) => void): void {
  try {
    check();
  } catch (error) {
    refuse(error as Error);
  }
}

function checkHead(headers: PartHeaders): void {
  const disposition = onlyHeader(headers, 'content-disposition');
  const parameters = headerParameters(disposition);
  const isNamed = parameters.has('name') || parameters.has('name*');
  if (!/^\s*form-data\s*;/i.test(disposition) || !isNamed) throw refused(withoutName);
  if (decodeUtf8(Buffer.from(disposition, 'latin1')) === undefined) throw nameMustBeUtf8();
  for (const [name, value] of parameters) if (name.endsWith('*')) checkExtendedValue(value);
  const encoding = onlyHeader(headers, 'content-transfer-encoding').trim();
  if (!/^(?:7bit|8bit|binary)?$/i.test(encoding)) {
    throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
      message: `Unsupported content transfer encoding: ${encoding.slice(0, 100)}: send the part without encoding`,
    });
  }
  // A file may have any charset, because its bytes are stored unchanged.
  if (parameters.has('filename') || parameters.has('filename*')) return;
  requireUtf8Type(onlyHeader(headers, 'content-type'));
  delete headers['content-type'];
}

/**
 * Checks a value that specifies its charset, such as `UTF-8''caf%C3%A9.txt`
 * (https://www.rfc-editor.org/rfc/rfc8187#section-3.2).
 */
function checkExtendedValue(value: string): void {
  const [charset = '', _language, encoded] = value.split("'");
  requireUtf8(charset);
  if (encoded === undefined || percentDecode(encoded) === undefined) throw nameMustBeUtf8();
}

function onlyHeader(headers: PartHeaders, name: string): string {
  const [value = '', ...others] = headers[name] ?? [];
  if (others.length > 0) throw refused(`A part of the multipart form has more than one ${name} header`);
  return value;
}

function nameMustBeUtf8(): ProtocolError {
  return refused('The name of a part or file must be UTF-8');
}
