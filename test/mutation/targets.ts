/** Sources whose every line guards something, and the tests that must notice when one of them is changed. */
export interface Target {
  readonly file: string;
  readonly tests: readonly string[];
}

const relay = 'apps/relay/src';
const relayTests = 'test/apps/relay';

export const targets: readonly Target[] = [
  {
    file: 'packages/protocol/src/verify-key-list.ts',
    tests: ['key-list', 'key-list-attacks', 'signing-keys'].map(
      (name) => `test/packages/client/${name}.test.ts`,
    ),
  },
  {
    file: 'packages/sodium/src/check-arguments.ts',
    tests: ['test/packages/sodium/arguments.test.ts', 'test/packages/sodium/both-backends.test.ts'],
  },
  {
    file: `${relay}/registrations/open-registration.ts`,
    tests: ['register-refusals', 'register-vectors', 'registration-binding'].map(
      (name) => `${relayTests}/registrations/${name}.test.ts`,
    ),
  },
  {
    file: `${relay}/servers/authenticate-server.ts`,
    tests: [`${relayTests}/servers/authenticate-server.test.ts`],
  },
];
