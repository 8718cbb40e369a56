import { afterEach, describe, expect, it, vi } from 'vitest';

const { loadFastestSodium, loadNativeSodium } = await import('@waxwing/sodium/native');

afterEach(() => {
  vi.doUnmock('sodium-native');
  vi.resetModules();
});

describe('The native entry point', () => {
  it('loads the native backend as the fastest backend, without a fallback reason', async () => {
    const { sodium, nativeUnavailableReason } = await loadFastestSodium();
    expect(nativeUnavailableReason, 'sodium-native does not load on this machine').toBeUndefined();
    expect(sodium.backend).toBe('native');
  });

  it('falls back to WebAssembly, and returns the reason in one line', async () => {
    vi.resetModules();
    vi.doMock('sodium-native', () => {
      throw new Error("Cannot find addon '.'\nCandidates:\n- a file");
    });
    const door = await import('@waxwing/sodium/native');
    const { sodium, nativeUnavailableReason } = await door.loadFastestSodium();
    expect(sodium.backend).toBe('wasm');
    expect(nativeUnavailableReason).toMatch(/^sodium-native did not load.*$/);
  });

  it('calls the callback once, and only if the backend is missing', async () => {
    const reasons: string[] = [];
    expect(await loadNativeSodium((reason) => reasons.push(reason))).toBeDefined();
    expect(reasons).toEqual([]);
  });
});
