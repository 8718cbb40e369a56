import { DatabaseUnusableError } from '../database-unusable-error.js';

const urlPattern = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s;
const sessionPattern = /([?&])target_session_attrs=([^&#]*)&?/;
/** Values of `target_session_attrs` that select a host that accepts writes. The programs always need such a host. */
const writingSessions: readonly string[] = ['read-write', 'primary'];

/**
 * Splits a database URL with several hosts (`postgres://user:password@h1:5432,h2/name?target_session_attrs=read-write`)
 * into one URL per host, in order. A URL with one host yields one URL. The driver supports neither host lists nor
 * `target_session_attrs`.
 *
 * @throws DatabaseUnusableError if `target_session_attrs` would allow a host that accepts no writes
 */
export function urlPerHost(url: string): readonly [string, ...string[]] {
  const session = sessionPattern.exec(url)?.[2];
  if (session !== undefined && !writingSessions.includes(session)) {
    // A mistyped value may be followed by a password, so it is not shown.
    const shown = /^[\w-]*$/.test(session) ? session : '…';
    throw new DatabaseUnusableError(
      `The database URL has target_session_attrs=${shown}, but the program needs a host that accepts writes: use target_session_attrs=read-write.`,
    );
  }
  const plain = session === undefined ? url : url.replace(sessionPattern, '$1').replace(/[?&]$/, '');
  const [, start = '', hosts = '', rest = ''] = urlPattern.exec(plain) ?? [];
  const [first, ...others] = hosts.split(',').map((host) => `${start}${host}${rest}`);
  return first === undefined || others.length === 0 ? [plain] : [first, ...others];
}
