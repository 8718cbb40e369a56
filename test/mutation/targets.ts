import { posix } from 'node:path';
import { chat, server } from './server-targets.js';

/** A source file in which every line matters, and the tests that must detect a change to it, fastest first. */
export interface Target {
  readonly file: string;
  readonly tests: readonly string[];
}

/**
 * Rows of a source file and its tests. The source file is relative to one folder, without `.ts`. The tests are relative
 * to a second folder, without `.test.ts`.
 */
export type Table = readonly (readonly [file: string, ...tests: string[]])[];

const protocol: Table = [['verify-key-list', 'verify-key-list']];

const sodium: Table = [
  ['check-arguments', 'arguments', 'both-backends'],
  ['low-order-points', 'low-order-points'],
  ['wrap-libsodium', 'wrap-libsodium', 'both-backends'],
  ['wrap-sodium-native', 'both-backends', 'native-door'],
  ['undefined-on-failure', 'wrap-libsodium', 'both-backends'],
  ['wasm-heap', 'wasm-heap', 'both-backends'],
  ['native', 'native-door'],
];

const client: Table = [
  ['server-clock', 'server-clock', 'clocks', 'refused-account'],
  ['time-to-follow', 'time-to-follow', 'clocks', 'refused-account'],
  [
    'key-list/key-list-follower',
    'signing-keys',
    'learned-recovery-key',
    'key-list-attacks',
    'clocks',
    'key-list',
  ],
  ['key-list/key-list-state', 'signing-keys', 'learned-recovery-key', 'key-list-attacks', 'key-list'],
  ['notifications/open-notification', 'open-notification', 'native-examples'],
  ['notifications/received-push', 'open-notification', 'native-examples'],
  ['notifications/find-box', 'native-examples'],
  ['registration/client-devices/due-groups', 'client-devices', 'server-upgrade'],
  ['registration/client-devices/find-devices', 'client-devices', 'forget-device'],
  ['registration/client-devices/push-keys', 'push-keys', 'client-devices'],
  ['registration/destroy-unused-keys', 'push-keys', 'server-upgrade'],
  ['registration/client-devices/remove-former', 'server-upgrade', 'client-devices'],
  ['notifications/seen-notifications', 'seen-notifications', 'open-notification'],
  ['notifications/seen-of-account', 'seen-notifications', 'open-notification'],
];

const service: Table = [
  ['lifecycle/fair-queue', 'lifecycle/fair-queue'],
  ['lifecycle/round-robin-queue', 'lifecycle/fair-queue', 'http/overload/fair-scheduler'],
  ['lifecycle/fifo-queue', 'lifecycle/fair-queue', 'http/overload/fair-scheduler'],
  ['config/private-file', 'config/private-file', 'config/config', '../../apps/relay/keyring/ring-file'],
  ['config/credential-hash', 'config/config'],
  ['http-settings/client-address', 'http-settings/client-address', 'http/connections/forwarded-addresses'],
];

const http: Table = [
  ['operations/basic-credentials', 'http'],
  ['exchange', 'exchange', 'overload/in-flight-caps'],
  ['operations/request-parameters', 'http'],
  ['bodies/received-body', 'bodies/received-body', 'http', 'bodies/multipart-form'],
  [
    'bodies/multipart-form',
    'bodies/upload-form',
    'bodies/multipart-form',
    'operations/operations-with-files',
    'http',
  ],
  [
    'create-http-app',
    'http-app',
    'operations/answer-channel',
    'http',
    'long-requests',
    'operations/operations',
    'operations/operations-with-files',
    'connections/connections',
    'connections/ended-connections',
    'overload/in-flight-caps',
    'overload/overload',
    'overload/client-fairness',
  ],
  [
    'operations/operation-route',
    'operations/answer-channel',
    'operations/operations',
    'operations/operations-with-files',
    'http',
    'long-requests',
    'overload/in-flight-caps',
    'overload/overload',
  ],
  ['operations/request-facts', 'http', 'overload/overload'],
];

const connections: Table = [
  [
    'client-addresses',
    'client-addresses',
    'forwarded-addresses',
    '../overload/client-fairness',
    'connections',
  ],
  ['foreign-request', 'foreign-request'],
  ['connection', 'closing-connections', 'connections', 'ended-connections'],
  ['connections', '../overload/client-fairness', 'closing-connections', 'connections', 'ended-connections'],
];

const overload: Table = [
  ['in-flight-caps', 'in-flight-caps'],
  ['pipelining-caps', 'pipelining-caps'],
  ['fair-scheduler', 'fair-scheduler-clock', 'fair-scheduler', '../connections/connections'],
  ['concurrency-limiter', 'concurrency-limiter-clock', 'concurrency-limiter', 'overload'],
  ['fair-shares', 'fair-shares'],
  ['load-shedder', 'load-shedder', 'overload'],
  ['watch-event-loop', 'watch-event-loop', 'overload'],
];

const storage: Table = [['database-file', 'sqlite-file']];

const serverPush: Table = [
  [
    'push-devices/check-registration',
    'apps/server/register-push-device',
    'apps/server/push-without-relay',
    'apps/server/registration-vectors',
  ],
  ['registrations/registration-rate', 'apps/server/member-limits', 'contracts/clean-up-in-small-steps'],
  [
    'push-devices/registration-intake',
    'packages/server-push/registration-intake',
    'apps/server/member-limits',
  ],
  [
    'push-devices/accept-registration',
    'packages/server-push/registration-intake',
    'contracts/server-stores',
    'packages/server-push/long-pending',
  ],
  ['push-devices/push-device-store', 'contracts/server-stores', 'packages/server-push/long-pending'],
  ['push-devices/fail-long-pending', 'packages/server-push/long-pending'],
  ['push-devices/push-device-state', 'apps/server/register-push-device', 'apps/server/thousand-push-devices'],
  ['notifications/test-notification-limits', 'contracts/server-stores', 'apps/server/test-notification'],
  [
    'client-devices/decide-change',
    'apps/server/push/client-device-conformance',
    'apps/server/push/client-device-registration',
  ],
  ['client-devices/pending-tokens', 'packages/server-push/client-devices/client-device-tokens'],
  ['client-devices/client-device-store', 'packages/server-push/client-devices/client-device-tokens'],
  ['person', 'apps/server/register-push-device', 'apps/server/test-notification'],
  ['relay-link/relay-answer', 'packages/server-push/relay-answer'],
];

const registrations: Table = [
  [
    'opening/open-registration',
    'registration-rows',
    'register-refusals',
    'registration-binding',
    'registration-sequence',
    'register-by-token',
  ],
  ['operations/forwarded-registration', 'register-by-token', 'register-devices-by-token', 'same-token'],
  ['store/devices-by-token', '../deliveries/notify-by-token', '../deliveries/ended-keys'],
  [
    'opening/registration-batches',
    'registration-batches',
    'register-devices',
    'registration-binding',
    'register-refusals',
    'registration-sequence',
  ],
  ['write/registration-sequences', 'registration-sequence'],
  ['write/presented-registrations', 'registration-binding'],
  ['write/registration-statement', 'registration-statement'],
  ['write/statement-writer', 'registration-statement', 'registration-rows'],
  ['write/relay-device-upsert', 'relay-device-upsert', 'registration-rows'],
  ['store/reencrypt-tokens', 'registration-rows', 'token-keys-replaced'],
  [
    'store/unreadable-devices',
    'tokens-at-rest',
    'token-keys-replaced',
    '../keyring/wrong-ring',
    '../deliveries/installation-ids',
  ],
  [
    'store/relay-device-store',
    'remove-devices',
    'registration-rows',
    '../../../contracts/clean-up-in-small-steps',
  ],
  ['operations/remove-devices', 'remove-devices'],
];

const keyring: Table = [
  ['tokens/key-ring-token-vault', 'token-vault'],
  ['clock/ring-clock', 'ring-clock', 'relay-clock'],
  ['ring/check-key-ring', 'guards', 'at-rest'],
  ['storage/document-secrets', 'ring-bytes'],
  ['storage/private-base64', 'ring-bytes'],
  ['live/openers', 'keys-readiness', 'live-ring', 'live-ring-troubles'],
  ['ring/wipe-key-ring', 'live-ring', 'live-ring-troubles', 'ring-bytes'],
  ['storage/age-file', 'ring-bytes'],
  ['storage/age-passphrase', 'ring-passphrase'],
  ['storage/key-ring-cipher', 'at-rest', 'ring-passphrase'],
  ['commands/key-files', 'guards', 'replace-secrets'],
  ['commands/export-stock-keys', 'import-keys'],
  ['storage/audit-log', 'audit-log', 'guards'],
  ['storage/key-ring-file', 'ring-file'],
  ['live/move-key-ring', 'move-key-ring', 'move-ring'],
  ['ring/key-ring-transitions', 'key-ring-transitions', 'guards', 'rotation-properties', 'key-commands'],
  ['list/publish-key-list', 'publish-key-list', 'replace-secrets'],
];

const adminSocket: Table = [
  ['trusted-socket', 'admin-socket'],
  ['open-admin-socket', 'admin-socket'],
  ['ask-admin-socket', 'admin-socket', 'admin-requests'],
  ['operator', 'admin-requests'],
];

const servers: Table = [
  ['authenticate-server', 'authenticate-server', '../registrations/register-refusals'],
  ['server-quotas', 'server-quotas', 'quota-exchange'],
  ['server-directory', 'authenticate-server', 'server-commands'],
  ['recent-lookups', 'recent-lookups'],
  ['find-realm', 'authenticate-server', 'server-commands'],
];

const deliveries: Table = [
  ['requests/read-push-request', 'journeys', 'relay-page', 'notify-by-token'],
  ['queue/load-limit', 'limits'],
  ['delivery', 'replaced-notifications', 'journeys', 'retry-policy'],
  ['attempts/device-cooldowns', 'device-cooldowns'],
  ['queue/receipt-store', 'old-receipts', 'tenants-apart', 'repeats-and-receipts', 'queued-notifications'],
  ['breakers/death-share', 'death-share', 'deletion-breakers', 'deletion-breaker-properties'],
  [
    'breakers/deletion-breakers',
    'deletion-breakers',
    'deletion-thaws',
    'deletion-breaker-properties',
    'breaker-store',
  ],
  ['breakers/frozen-watch', 'frozen-watch'],
  ['breakers/app-shares', 'app-shares', 'deletion-breakers', 'deletion-breaker-properties'],
  ['breakers/breaker-store', 'breaker-store'],
  ['breakers/credential-breakers', 'credential-breakers', 'credential-or-token'],
  ['breakers/credential-suspicions', 'credential-or-token', 'credential-breakers'],
];

export const targets: readonly Target[] = [
  ...under('packages/protocol/src', 'test/packages/protocol', protocol),
  ...under('packages/sodium/src', 'test/packages/sodium', sodium),
  ...under('packages/client/src', 'test/packages/client', client),
  ...under('packages/service/src', 'test/packages/service', service),
  ...under('packages/service/src/http', 'test/packages/service/http', http),
  ...under('packages/service/src/http/connections', 'test/packages/service/http/connections', connections),
  ...under('packages/service/src/http/overload', 'test/packages/service/http/overload', overload),
  ...under('packages/storage/src', 'test/packages/storage', storage),
  ...under('packages/server-push/src', 'test', serverPush),
  ...under('apps/server/src', 'test/apps/server', server),
  ...under('apps/server/src', 'test/apps/server', chat),
  ...under('apps/relay/src/registrations', 'test/apps/relay/registrations', registrations),
  ...under('apps/relay/src/keyring', 'test/apps/relay/keyring', keyring),
  ...under('apps/relay/src/admin-socket', 'test/apps/relay/admin-socket', adminSocket),
  ...under('apps/relay/src/servers', 'test/apps/relay/servers', servers),
  ...under('apps/relay/src/deliveries', 'test/apps/relay/deliveries', deliveries),
];

function under(sources: string, tests: string, table: Table): Target[] {
  return table.map(([file, ...names]) => ({
    file: `${sources}/${file}.ts`,
    tests: names.map((name) => posix.join(tests, `${name}.test.ts`)),
  }));
}
