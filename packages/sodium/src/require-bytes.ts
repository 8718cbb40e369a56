/** Checks the length of an argument. @throws RangeError that names the argument if it has a different length. */
export function requireBytes(argument: string, bytes: Uint8Array, expectedBytes: number): void {
  if (bytes.length !== expectedBytes) {
    throw new RangeError(`${argument} must be ${expectedBytes} bytes, but is ${bytes.length}.`);
  }
}
