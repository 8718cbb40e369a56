export { runRelayCommand } from './command-line.js';
export { type RelayConfiguration, readRelayEnvironment } from './configuration.js';
export { createRelay, type Relay, type RelayOverrides } from './create-relay.js';
export { relayAdminApi, relayAdminOperations, relayApi, relayOperations } from './operations.js';
export { startRelay } from './start-relay.js';
