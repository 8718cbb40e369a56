import type { EnvironmentReader } from '@waxwing/service/config';

/** Values of the setting for which new servers may register themselves. */
const registrationModes = ['invitation', 'open', 'closed'] as const;

/** Settings for joining servers. */
export interface JoiningConfiguration {
  readonly registration: (typeof registrationModes)[number];
  /** Whether a server that is verified by its hostname may have a private or loopback address. */
  readonly mayHostsBePrivate: boolean;
}

export function readJoiningEnvironment(reader: EnvironmentReader): JoiningConfiguration {
  return {
    registration: reader.oneOf('SERVER_REGISTRATION', registrationModes, 'invitation'),
    mayHostsBePrivate: reader.oneOf('SERVER_REGISTRATION_PRIVATE_HOSTS', ['on', 'off'], 'off') === 'on',
  };
}
