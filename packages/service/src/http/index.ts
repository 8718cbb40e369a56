export * from './basic-credentials.js';
export * from './cacheable-answer.js';
export { AddressRanges } from './client-address.js';
export * from './create-http-app.js';
export * from './foreign-request.js';
export * from './http-limits.js';
export * from './operation.js';
export * from './readiness.js';
export * from './retry-after.js';
