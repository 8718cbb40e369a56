/**
 * Runs `open`, and returns `undefined` if it throws a plain `Error`, which is how the libraries report a failed
 * decryption. Lengths are checked beforehand, so nothing else throws a plain `Error`. Rethrows errors of other classes,
 * such as WebAssembly traps and out-of-memory errors.
 */
export function undefinedOnFailure(open: () => Uint8Array): Uint8Array | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof Error && error.name === 'Error') return undefined;
    throw error;
  }
}
