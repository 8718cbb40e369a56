import { holdsPassword, isSecretText } from './misplaced-secret.js';

const authorityPattern = /^postgres(?:ql)?:\/\/([^/?#]*)([^?#]*)(.*)$/s;
/** Driver parameters whose values may contain an `@`. */
const parameterWithAt = /[?&](?:user|password)=[^@&#]*@[^@&#]*/g;

/** Clause that says how to fix a PostgreSQL URL that cannot be parsed. */
export const databaseUrlRemedy =
  'write postgres://user:password@host:5432/database, with each of /, ?, #, @, : and % in the password as %2F, %3F, %23, %40, %3A and %25';

/**
 * Says in one sentence why a database URL cannot be used and how to fix it, without showing the URL. Also detects URLs
 * in which a driver would mistake part of the password for a host, port, database or file. Returns `undefined` for a
 * valid URL.
 */
export function describeDatabaseUrlMistake(url: string): string | undefined {
  const [, scheme] = /^([a-z]*):/.exec(url) ?? [];
  if (scheme === undefined) return 'The database URL has no scheme: write sqlite:<file> or postgres://….';
  if (scheme === 'sqlite') {
    // `sqlite://user:password@host` is a PostgreSQL URL with the wrong scheme, so it may contain a password, which must
    // not be shown.
    const path = url.slice('sqlite:'.length).replace(/^\/{2,}/, 'file://');
    if (!holdsPassword(path) && !isSecretText(path)) return undefined;
    return 'The database URL begins with sqlite:, but no file path follows. It is not shown, because it may contain a password: write sqlite:<file>, or postgres://… without sqlite:.';
  }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    return isPlainPostgresUrl(url) ? undefined : `The database URL cannot be read: ${databaseUrlRemedy}.`;
  }
  // Omits the rest of the URL, because it may contain a password.
  return `The database URL begins with "${scheme}", which is not supported: write sqlite:<file> or postgres://….`;
}

function isPlainPostgresUrl(url: string): boolean {
  const [, authority, path = '', parameters = ''] = authorityPattern.exec(url) ?? [];
  if (authority === undefined) return false;
  const credentials = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  const [user = ''] = credentials.split(':', 1);
  const isShown = [user, hosts, path.slice(1)].every((part) => !/[@/\s=;&]/.test(part));
  return isShown && !parameters.replace(parameterWithAt, '').includes('@');
}
