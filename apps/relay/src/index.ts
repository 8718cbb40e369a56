export { runCommandLine as runRelayCommand } from './command-line.js';
export { type RelayConfiguration, readRelayEnvironment } from './configuration.js';
export { relayApi, relayOperations } from './operations.js';
export { type RunningRelay, startRelay } from './serve.js';
