import type { PushServer } from './push-server.js';

/** Delays the relay's responses to registrations until the test releases them. */
export class HeldAnswers {
  isHolding = false;
  #release: (() => void)[] = [];

  constructor({ relay }: PushServer) {
    relay.around = async (request, react) => {
      const reaction = react();
      if (this.isHolding && request.path.includes('/register')) {
        await new Promise<void>((release) => this.#release.push(release));
      }
      return reaction;
    };
  }

  get count(): number {
    return this.#release.length;
  }

  releaseAll(): void {
    this.isHolding = false;
    for (const release of this.#release.splice(0)) release();
  }

  /** Releases the response to the newest request. */
  releaseNewest(): void {
    this.#release.pop()?.();
  }
}
