/** The part of libsodium's WebAssembly module that hands out its memory. */
export interface WasmHeap {
  /** A view of the whole memory; replaced when the memory grows. */
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(address: number): void;
}

const wipedHeaps = new WeakSet<WasmHeap>();

/**
 * libsodium-wrappers copies every argument and result through WebAssembly memory and frees the copies as they are.
 * From this call on they are zeroed first, so that no key and no plaintext outlives the call that used it.
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
