import type { Log } from '@waxwing/service/logging';
import type { Sodium } from '@waxwing/sodium';
import { loadFastestSodium } from '@waxwing/sodium/native';

/** Loads the native libsodium. If that fails, logs a warning and loads the WASM build. */
export async function loadSodium(log: Log): Promise<Sodium> {
  const { sodium, nativeUnavailableReason } = await loadFastestSodium();
  if (nativeUnavailableReason !== undefined) log.warn(nativeUnavailableReason);
  log.info({ backend: sodium.backend }, 'encryption loaded');
  return sodium;
}
