import { databaseUrlRemedy, fileTrouble, holdsPassword } from '@waxwing/service/config';
import { type Address, addressOf } from './address.js';
import { describeConnectionLimit } from './connection-limit.js';
import { urlPerHost } from './postgres-hosts.js';

const certificateCodes = /CERT|VERIFY|SELF_SIGNED|ALTNAME/;

/**
 * Explains in one sentence why PostgreSQL is unreachable: which database, where it is, and what to do. The sentence
 * never contains the password.
 */
export function describeConnectionTrouble(url: string, error: unknown): string {
  const { path, syscall } = error as NodeJS.ErrnoException;
  if (path !== undefined && syscall === 'open' && !holdsPassword(path)) {
    return `The file ${path} that the database URL names cannot be used: ${fileTrouble(error)}.`;
  }
  const [first] = urlPerHost(url);
  const address = addressOf(first);
  if (address === undefined) {
    return `The database URL cannot be read: ${databaseUrlRemedy}.`;
  }
  return `The ${describeLocation(url)}, cannot be reached: ${whatAndRemedy(address, error)}.`;
}

/** Describes the database of a URL that the driver can read: its name, and each host with its port. */
export function describeLocation(url: string): string {
  const addresses = urlPerHost(url).map(addressOf);
  const places = addresses.flatMap((address) => (address === undefined ? [] : [placeOf(address)]));
  const [first] = addresses;
  return first === undefined
    ? 'PostgreSQL database'
    : `PostgreSQL database "${first.database}" ${places.join(' or ')}`;
}

/** Explains that the pooler must pool by session, and what to do. */
export function describeTransactionPooling(url: string): string {
  return `The ${describeLocation(url)}, is behind a pooler that shares connections between sessions, so that LISTEN and prepared statements get lost: set pool_mode = session for this database in pgbouncer.ini, or connect to PostgreSQL directly.`;
}

/** Explains that a standby accepts no writes, and what to do. */
export function describeStandby(url: string): string {
  return `The ${describeLocation(url)}, is a standby, which accepts no writes: name its primary in the URL, or both, as in postgres://user:password@host1,host2/database?target_session_attrs=read-write.`;
}

function placeOf({ host, port }: Address): string {
  return host.startsWith('/') ? `in ${host}, port ${port}` : `at ${host}, port ${port}`;
}

/** Explains why a user may not create or change tables, and what to do. Returns `undefined` for other errors. */
export function describeMissingRight(url: string, error: unknown): string | undefined {
  const address = addressOf(urlPerHost(url)[0]);
  if ((error as NodeJS.ErrnoException).code !== '42501' || address === undefined) return undefined;
  const { database, user } = address;
  return `The user "${user}" may not create or change tables in the PostgreSQL database "${database}": ${(error as Error).message}; make it the owner (alter database ${database} owner to ${user}), and of all its tables.`;
}

function whatAndRemedy(address: Address, error: unknown): string {
  const causes = error instanceof AggregateError ? error.errors : [error];
  const sentences = causes.map((cause) => sentenceOf(address, cause as NodeJS.ErrnoException));
  return [...new Set(sentences)].join('; ');
}

function sentenceOf(address: Address, error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  const known = code === '' ? byMessage(address, message) : byCode(address, error);
  return known ?? `${message}; check that it runs, its address and its credentials`;
}

function byCode({ host, database, user }: Address, { code = '', message }: NodeJS.ErrnoException) {
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there; start PostgreSQL, or correct the host and port in the URL';
    case 'ENOPRIMARY':
      return `${message}; start the primary, or promote a standby`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${host} cannot be resolved; correct the host in the URL, or fix DNS on this machine`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return 'there is no route to it; check the network, the firewall, and the host and port in the URL';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the service there closes the connection; check that it is PostgreSQL, and the host and port in the URL';
    case 'ENOENT':
    case 'EACCES':
      return `there is no accessible PostgreSQL socket in ${host}; start PostgreSQL, or correct the host in the URL`;
    case '28P01':
      return `it refuses the password of the user "${user}"; correct the user and password in the URL`;
    case '28000':
      if (user === '') return 'the URL names no user; write postgres://user:password@host:5432/database';
      return `it rejects connections of the user "${user}" from this machine; create the user, or allow it in pg_hba.conf`;
    case '3D000':
      return `there is no database with that name; create it (createdb -O ${user} ${database}), or correct the name in the URL`;
    case '42501':
      return `the user "${user}" may not connect to it; grant connect on database ${database} to ${user}`;
    case '53300':
      return describeConnectionLimit(message);
    case '57P03':
      return 'it is starting or stopping; try again in a moment';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `its certificate is not for ${host}; use the certificate's name in the URL, or install a certificate for ${host}`;
    case 'CERT_HAS_EXPIRED':
      return 'its certificate has expired; renew it on the server';
    default:
      if (!certificateCodes.test(code)) return undefined;
      return `its certificate is not trusted (${code}); name its CA with sslrootcert=<file> in the URL`;
  }
}

/** Describes errors that the driver reports without a code. */
function byMessage({ user }: Address, message: string): string | undefined {
  if (/timeout/i.test(message)) {
    return 'it does not answer in time; check the network, the firewall, and the host and port in the URL';
  }
  if (/client password must be/.test(message)) {
    return `it requires a password for the user "${user}"; add it to the URL, as in postgres://user:password@host/database`;
  }
  if (/does not support SSL/.test(message)) {
    return 'it does not support TLS; enable TLS there, or remove sslmode from the URL';
  }
  if (/terminated|hung up/i.test(message)) {
    return 'the service there closes the connection; check that it is PostgreSQL, and the host and port in the URL';
  }
  return undefined;
}
