/** The memory allocator of libsodium's WebAssembly module. */
export interface WasmHeap {
  /** A view of the whole memory. Replaced when the memory grows. */
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

const wipedHeaps = new WeakSet<WasmHeap>();

/**
 * Makes the module zero its WebAssembly memory before freeing it. Idempotent. libsodium-wrappers copies every argument
 * and result through that memory and frees the copies without wiping them, so keys and plaintext would otherwise stay
 * in memory after a call.
 */
export function wipeFreedMemory(heap: WasmHeap): void {
  if (wipedHeaps.has(heap)) return;
  wipedHeaps.add(heap);
  const sizes = new Map<number, number>();
  const allocate = heap._malloc;
  const free = heap._free;

  heap._malloc = (bytes) => {
    const address = allocate(bytes);
    if (address !== 0) sizes.set(address, bytes);
    return address;
  };
  heap._free = (address) => {
    const bytes = sizes.get(address);
    if (bytes !== undefined) {
      heap.HEAPU8.fill(0, address, address + bytes);
      sizes.delete(address);
    }
    free(address);
  };
}
