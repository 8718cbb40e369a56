import libsodium from 'libsodium-wrappers';
import type { Sodium } from './sodium.js';
import { type WasmHeap, wipeFreedMemory } from './wasm-heap.js';
import { wrapLibsodium } from './wrap-libsodium.js';

/**
 * Loads libsodium compiled to WebAssembly, which runs in Node and in every browser. A page with a content security
 * policy must allow `'wasm-unsafe-eval'`. Rejects if there is no WebAssembly or no secure random source.
 */
export async function loadWasmSodium(): Promise<Sodium> {
  await libsodium.ready;
  // The library exports its module under this name, but its types omit it.
  const { libsodium: heap }: typeof libsodium & { readonly libsodium?: WasmHeap } = libsodium;
  if (heap === undefined)
    throw new Error('libsodium-wrappers hides its memory: keys could not be wiped from it');
  wipeFreedMemory(heap);
  return wrapLibsodium(libsodium, 'wasm');
}
