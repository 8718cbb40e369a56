import { refused } from '@waxwing/protocol';

/**
 * Matches `; name=value` or `; name="value"`. A value without a closing quote extends to the end of the header. That
 * keeps the matching time linear.
 */
const parameter = /;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)(?:"|$)|([^;]*))/gs;

/**
 * Returns the parameters of a header such as Content-Type, by name in lowercase.
 * @throws ProtocolError BAD_REQUEST for a repeated parameter, because parsers disagree on which value counts
 */
export function headerParameters(header: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [, sent = '', quoted, plain = ''] of header.matchAll(parameter)) {
    const name = sent.toLowerCase();
    if (parameters.has(name))
      throw refused(`Header parameter '${name.slice(0, 40)}' was sent more than once`);
    parameters.set(name, quoted?.replace(/\\(.)/gs, '$1') ?? plain.trim());
  }
  return parameters;
}
