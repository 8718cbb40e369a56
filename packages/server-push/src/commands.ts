// Loads a command's code when it runs, so that help starts fast.
export { awaitReport } from './commands/await-report.js';
export { addPushCommands } from './commands/push-commands.js';
export { enableRemedy, type PushProgram, type PushWork } from './commands/push-program.js';
export { type WaitFlag, withWait } from './commands/wait-flag.js';
