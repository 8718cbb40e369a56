import { uuidPattern } from '@waxwing/protocol/phone';
import { type Environment, EnvironmentReader, type Secret } from '@waxwing/service/config';
import { maximumRealmUrlBytes } from '../foundation.js';
import type { PushRealm } from '../server-push-options.js';
import { type AccountSettings, readAccountSettings } from '../settings/account-settings.js';
import { mountedNames } from './mounted-names.js';

/** Settings that a mounted push and `waxwing-server-push` share. */
export interface PushSettings extends AccountSettings {
  /** A secret, because a PostgreSQL URL can contain a password. */
  readonly databaseUrl: Secret<string>;
  readonly realm: PushRealm;
}

/** Reads the `SERVER_PUSH_*` variables. @throws ConfigurationError that lists all problems at once. */
export function readPushEnvironment(environment: Environment): PushSettings {
  const reader = new EnvironmentReader(environment, mountedNames.prefix);
  const required = (name: string, remedy: string): string => {
    const setting = reader.fullName(name);
    if (!environment[setting]) reader.problem(`${setting} is not set: ${remedy}.`);
    return reader.optional(name) ?? '';
  };
  required('DATABASE', 'set it to the push database, sqlite:<file> or postgres://…');
  const databaseUrl = reader.databaseUrl('DATABASE', '');
  const uuid = required('REALM_UUID', 'choose a UUID once, such as by uuidgen, and keep it').toLowerCase();
  const name = required('REALM_NAME', 'give the name that notifications show');
  required('REALM_URL', 'give the URL that phones use to reach this server');
  const realm = { uuid, url: reader.optionalUrl('REALM_URL') ?? '', name };
  if (realm.uuid !== '' && !uuidPattern.test(realm.uuid)) {
    reader.problem(`${reader.fullName('REALM_UUID')} is "${realm.uuid}": it must be a UUID.`);
  }
  if (Buffer.byteLength(realm.url) > maximumRealmUrlBytes) {
    reader.problem(
      `${reader.fullName('REALM_URL')} is too long: the maximum is ${maximumRealmUrlBytes} bytes.`,
    );
  }
  const account = readAccountSettings(reader, databaseUrl.reveal(), mountedNames);
  reader.finish();
  return { ...account, databaseUrl, realm };
}
