export * from './command-error.js';
export { addCompletion } from './completion.js';
export * from './output.js';
export * from './package-version.js';
export * from './run-program.js';
export * from './terminal.js';
