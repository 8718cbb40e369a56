import type { EnvironmentReader } from '../config/environment-reader.js';
import { Secret } from '../config/secret.js';

/**
 * Reads the URL of an HTTP proxy. The URL is a secret, because it may contain a password, so problem messages do not
 * show it.
 */
export function readProxyUrl(reader: EnvironmentReader, name: string): Secret<string> | undefined {
  const text = reader.optional(name);
  if (text === undefined) return undefined;
  if (!isProxyUrl(text)) {
    reader.problem(
      `${reader.fullName(name)} is not the URL of an HTTP proxy, and is not shown, because it may contain a password: write one such as http://proxy.example.com:3128, and percent-encode all characters of a password except letters and digits.`,
    );
  }
  return new Secret(text);
}

function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  try {
    for (const part of [username, password]) decodeURIComponent(part);
  } catch {
    // The user name or password contains a `%` that does not start an escape.
    return false;
  }
  return /^https?:$/.test(protocol);
}
