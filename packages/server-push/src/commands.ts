// This module imports little, so that help is fast: each command imports its own code when it runs.
export { enableRemedy } from './admin-names.js';
export { awaitReport } from './commands/await-report.js';
export { describeTest } from './commands/describe-test.js';
export { addPushCommands } from './commands/push-commands.js';
export type { PushProgram, PushWork } from './commands/push-program.js';
export { type WaitFlag, withWait } from './commands/wait-flag.js';
