export { runCommandLine as runRelayCommand } from './command-line.js';
export { type RelayConfiguration, readRelayEnvironment } from './configuration.js';
export { type RunningRelay, startRelay } from './serve.js';
