import type { Sodium } from './sodium.js';
import { wrapSodiumNative } from './wrap-sodium-native.js';

/** The fastest backend of this machine. */
export interface FastestSodium {
  readonly sodium: Sodium;
  /** Present when `sodium` is the WebAssembly backend: why the native one did not load, in one sentence for the log. */
  readonly nativeUnavailableReason?: string;
}

/**
 * sodium-native (Node only). Where it does not load, which is no error since it is an optional peer that each server
 * installs itself, `onUnavailable` is told why in one sentence and the result is `undefined`.
 */
export async function loadNativeSodium(onUnavailable: (reason: string) => void): Promise<Sodium | undefined> {
  try {
    const { default: library } = await import('sodium-native');
    return wrapSodiumNative(library);
  } catch (error) {
    onUnavailable(reasonOf(error));
    return undefined;
  }
}

/** The native backend where it loads, else the WebAssembly one and the reason. */
export async function loadFastestSodium(): Promise<FastestSodium> {
  let nativeUnavailableReason = '';
  const native = await loadNativeSodium((reason) => {
    nativeUnavailableReason = reason;
  });
  if (native !== undefined) return { sodium: native };
  // A megabyte of WebAssembly, which whoever has the native one never needs.
  const { loadWasmSodium } = await import('./wasm.js');
  return { sodium: await loadWasmSodium(), nativeUnavailableReason };
}

function reasonOf(error: unknown): string {
  // The loader's message goes on to list every file that it looked for.
  const [firstLine] = String(error instanceof Error ? error.message : error).split('\n');
  return `sodium-native did not load, so encryption runs about three times slower as WebAssembly: ${firstLine}.`;
}
