export * from './command-error.js';
export { addCompletion } from './completion.js';
export * from './output.js';
export { watchOutput } from './output-errors.js';
export * from './package-version.js';
export { createProgress, type Progress } from './progress.js';
export * from './run-program.js';
export * from './terminal.js';
export { printUsageErrors } from './usage-errors.js';
