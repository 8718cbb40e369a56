import { type DecodeText, decodeUtf8 } from './percent-encoding.js';

export interface Charset {
  readonly name: string;
  /** `undefined` for an unknown charset. */
  readonly decode: DecodeText | undefined;
}

/** The charset in a content type. UTF-8 if it names none or ASCII. */
export function charsetOf(contentType: string): Charset {
  const [, name = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType) ?? [];
  if (/^(?:utf-?8|(?:us-)?ascii)$/i.test(name)) return { name, decode: decodeUtf8 };
  try {
    const decoder = new TextDecoder(name, { ignoreBOM: true, fatal: true });
    const decode: DecodeText = (bytes) => {
      try {
        return decoder.decode(bytes);
      } catch {
        return undefined;
      }
    };
    return { name, decode };
  } catch {
    return { name, decode: undefined };
  }
}
