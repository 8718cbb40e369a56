import type { SignalListener } from '@waxwing/storage';

/** A listener that records the signals it receives, and can be awaited. */
export class Heard {
  readonly all: (string | undefined)[] = [];
  #told: () => void = () => undefined;

  readonly listener: SignalListener = (payload) => {
    this.all.push(payload);
    this.#told();
  };

  /** Resolves once the recorded signals satisfy `isSo`. */
  async until(isSo: (all: readonly (string | undefined)[]) => boolean): Promise<void> {
    while (!isSo(this.all)) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }
}
