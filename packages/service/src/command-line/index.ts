export * from './command-error.js';
export * from './output.js';
export * from './run-program.js';
export * from './terminal.js';
