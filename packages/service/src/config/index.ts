export * from './configuration-error.js';
export * from './credential-hash.js';
export * from './environment-reader.js';
export * from './file-exists.js';
export * from './file-trouble.js';
export * from './nearest-name.js';
export * from './private-file.js';
export * from './secret.js';
