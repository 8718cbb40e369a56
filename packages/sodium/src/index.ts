export * from './byte-sizes.js';
export type * from './sodium.js';
export { loadWasmSodium } from './wasm.js';
