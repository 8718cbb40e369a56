import libsodium from 'react-native-libsodium';
import type { Sodium } from './sodium.js';
import { wrapLibsodium } from './wrap-libsodium.js';

export * from './byte-sizes.js';
export type * from './sodium.js';

/**
 * Loads react-native-libsodium, a native library, because Hermes has no WebAssembly. The function has the same name as
 * its counterpart in the main entry point, so that callers need not distinguish between platforms. The `backend` of the
 * result is `native`.
 */
export async function loadWasmSodium(): Promise<Sodium> {
  await libsodium.ready;
  return wrapLibsodium(libsodium, 'native');
}
