/**
 * The libraries report what does not open by throwing a plain `Error`. Lengths have been checked before, so
 * nothing else throws one: a trap in WebAssembly or memory that ran out is something else and goes on.
 */
export function undefinedOnFailure(open: () => Uint8Array): Uint8Array | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof Error && error.name === 'Error') return undefined;
    throw error;
  }
}
