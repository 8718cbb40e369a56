import { resolve } from 'node:path';
import { type Environment, EnvironmentReader } from '@waxwing/service/config';
import { parseDay } from '../clock/ring-clock.js';
import {
  dayMilliseconds,
  defaultRotationPolicy as defaults,
  type RotationPolicy,
} from '../ring/rotation-policy.js';
import type { UnlockFile } from './key-ring-cipher.js';

/** Location of the key ring: a file, or the relay's database if relays run on several machines. */
export type KeyRingLocation =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'database' };

export interface KeyRingConfiguration {
  readonly location: KeyRingLocation;
  readonly unlock: UnlockFile;
  readonly policy: RotationPolicy;
  /**
   * The current day according to the operator: its first instant in UTC. Needed only if no relay has run for months.
   */
  readonly confirmedDay?: number | undefined;
  /** Path of the audit log. */
  readonly auditLog: string;
  /** Unix socket through which commands reach the running relay. */
  readonly adminSocket: string;
}

const defaultKeyRingFile = 'key-ring.age';
const databaseLocation = 'database';

const days = { minimum: 1, maximum: 3650 } as const;

/**
 * Reads only the key ring configuration, for a command.
 * @throws ConfigurationError that names every problem.
 */
export function readKeyRingEnvironmentAlone(environment: Environment): KeyRingConfiguration {
  const concerned = Object.entries(environment).filter(([name]) => name.startsWith('RELAY_KEY_'));
  const reader = new EnvironmentReader(Object.fromEntries(concerned), 'RELAY_');
  const configuration = readKeyRingEnvironment(reader);
  reader.finish();
  return configuration;
}

/** Reads the `KEY_…` variables and reports problems through `reader`. */
export function readKeyRingEnvironment(reader: EnvironmentReader): KeyRingConfiguration {
  const location = reader.optional('KEY_RING') ?? defaultKeyRingFile;
  const inDays = (name: string, fallback: number) =>
    reader.integer(name, fallback / dayMilliseconds, days) * dayMilliseconds;
  const unlock = readUnlockFile(reader);
  const auditLog = pathBesideRing(reader, location, { name: 'KEY_AUDIT_LOG', ending: 'audit.jsonl' });
  const adminSocket = pathBesideRing(reader, location, { name: 'KEY_ADMIN_SOCKET', ending: 'sock' });
  const paths = [location, unlock.path, auditLog, adminSocket].map((path) => resolve(path));
  if (new Set(paths).size < paths.length) {
    reader.problem(
      'RELAY_KEY_RING, its identity or passphrase file, RELAY_KEY_AUDIT_LOG and RELAY_KEY_ADMIN_SOCKET name the same file twice: set a different file for each, because one would overwrite the other.',
    );
  }
  return {
    location: location === databaseLocation ? { kind: 'database' } : { kind: 'file', path: location },
    unlock,
    auditLog,
    adminSocket,
    confirmedDay: readConfirmedDay(reader),
    policy: {
      rotateAfterMilliseconds: inDays('KEY_ROTATE_DAYS', defaults.rotateAfterMilliseconds),
      acceptForMilliseconds: inDays('KEY_ACCEPT_DAYS', defaults.acceptForMilliseconds),
      unusedForMilliseconds: inDays('KEY_UNUSED_DAYS', defaults.unusedForMilliseconds),
      listValidMilliseconds: inDays('KEY_LIST_VALID_DAYS', defaults.listValidMilliseconds),
    },
  };
}

/**
 * Reads a path whose default is next to the ring's file. Requires an explicit path if the ring is in the database: a
 * default would depend on the working directory, and a command may run in a different directory from the relay.
 */
function pathBesideRing(
  reader: EnvironmentReader,
  location: string,
  { name, ending }: { readonly name: string; readonly ending: string },
): string {
  const path = reader.optional(name);
  if (path !== undefined) return path;
  if (location === databaseLocation) {
    reader.problem(
      `${reader.fullName(name)} is not set: a ring in the database needs it, such as /var/lib/waxwing/key-ring.${ending}, the same for the relay and its commands.`,
    );
  }
  return `${location}.${ending}`;
}

function readConfirmedDay(reader: EnvironmentReader): number | undefined {
  const text = reader.optional('KEY_TODAY');
  if (text === undefined) return undefined;
  const day = parseDay(text);
  if (day === undefined)
    reader.problem(`RELAY_KEY_TODAY must be a day such as 2026-11-22, but is "${text}".`);
  return day;
}

function readUnlockFile(reader: EnvironmentReader): UnlockFile {
  const identity = reader.optional('KEY_RING_IDENTITY_FILE');
  const passphrase = reader.optional('KEY_RING_PASSPHRASE_FILE');
  if ((identity === undefined) === (passphrase === undefined)) {
    reader.problem(
      'Set exactly one of RELAY_KEY_RING_IDENTITY_FILE (a file with an age identity, which keys init can create) and RELAY_KEY_RING_PASSPHRASE_FILE: the key ring is always encrypted.',
    );
  }
  if (identity !== undefined) return { kind: 'identity', path: identity };
  return { kind: 'passphrase', path: passphrase ?? '' };
}
