export { AddressRanges, privateAddresses } from './client-address.js';
export * from './dashboard-configuration.js';
export * from './http-limits.js';
export * from './http-url.js';
export * from './listen-configuration.js';
export * from './listening-start-check.js';
export * from './proxy-url.js';
