import type { EnvironmentReader } from '../config/environment-reader.js';
import { Secret } from '../config/secret.js';

/** The URL of an HTTP proxy; secret, as it may hold a password. Problems do not show it. */
export function readProxyUrl(reader: EnvironmentReader, name: string): Secret<string> | undefined {
  const text = reader.optional(name);
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    reader.problem(
      `${reader.fullName(name)} is not the URL of an HTTP proxy, and is not shown, as it may hold a password: write one such as http://proxy.example.com:3128.`,
    );
  }
  return new Secret(text);
}
