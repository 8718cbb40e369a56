export * from './command-error.js';
export * from './terminal.js';
