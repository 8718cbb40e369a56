import type { EnvironmentReader } from '@waxwing/service/config';

/** Which new servers may register themselves. */
const registrationModes = ['invitation', 'open', 'closed'] as const;

/** Settings of how servers join. */
export interface JoiningConfiguration {
  readonly registration: (typeof registrationModes)[number];
}

export function readJoiningEnvironment(reader: EnvironmentReader): JoiningConfiguration {
  return { registration: reader.oneOf('SERVER_REGISTRATION', registrationModes, 'invitation') };
}
