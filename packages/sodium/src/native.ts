import type { Sodium } from './sodium.js';
import { wrapSodiumNative } from './wrap-sodium-native.js';

/** The fastest backend that loads on this machine. */
export interface FastestSodium {
  readonly sodium: Sodium;
  /**
   * Why the native backend did not load, in one sentence for the log. Present only if `sodium` is the WebAssembly
   * backend.
   */
  readonly nativeUnavailableReason?: string;
}

/**
 * Loads sodium-native (Node only). If loading fails, resolves to `undefined` and calls `onUnavailable` with a
 * one-sentence reason. This is not an error, because sodium-native is an optional peer dependency.
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

/** Loads the native backend. If that fails, loads the WebAssembly backend, and the result contains the reason. */
export async function loadFastestSodium(): Promise<FastestSodium> {
  let nativeUnavailableReason = '';
  const native = await loadNativeSodium((reason) => {
    nativeUnavailableReason = reason;
  });
  if (native !== undefined) return { sodium: native };
  // Imported lazily, because the megabyte of WebAssembly is needed only if the native backend is not available.
  const { loadWasmSodium } = await import('./wasm.js');
  return { sodium: await loadWasmSodium(), nativeUnavailableReason };
}

function reasonOf(error: unknown): string {
  // Keeps only the first line, because the other lines list every path that the loader tried.
  const [firstLine] = String(error instanceof Error ? error.message : error).split('\n');
  return `sodium-native did not load, so encryption runs about three times slower as WebAssembly: ${firstLine}.`;
}
