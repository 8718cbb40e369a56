/** Something that must not be done to the key ring: one sentence that says why, and what to do instead. */
export class KeyRingRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KeyRingRefusal';
  }
}
