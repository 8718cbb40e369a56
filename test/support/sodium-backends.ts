import { loadWasmSodium, type Sodium } from '@waxwing/sodium';
import { loadNativeSodium } from '@waxwing/sodium/native';

/**
 * The two backends for Node. Rejects if sodium-native does not load, because half of the tests would then prove
 * nothing.
 */
export async function sodiumBackends(): Promise<{ readonly wasm: Sodium; readonly native: Sodium }> {
  let reason = '';
  const native = await loadNativeSodium((text) => {
    reason = text;
  });
  if (native === undefined) throw new Error(`The native backend cannot be tested on this machine: ${reason}`);
  return { wasm: await loadWasmSodium(), native };
}
