import libsodium from 'react-native-libsodium';
import type { Sodium } from './sodium.js';
import { wrapLibsodium } from './wrap-libsodium.js';

export * from './byte-sizes.js';
export type * from './sodium.js';

/**
 * What the main door loads as WebAssembly, under the same name so that callers need not know: on React Native
 * libsodium is machine code (react-native-libsodium), since Hermes has no WebAssembly. `backend` says `native`.
 */
export async function loadWasmSodium(): Promise<Sodium> {
  await libsodium.ready;
  return wrapLibsodium(libsodium, 'native');
}
