import type { SignalListener } from '@waxwing/storage';

/** A listener that remembers what it heard, and can be waited for. */
export class Heard {
  readonly all: (string | undefined)[] = [];
  #told: () => void = () => undefined;

  readonly listener: SignalListener = (payload) => {
    this.all.push(payload);
    this.#told();
  };

  /** Resolves once what was heard is as described. */
  async until(isSo: (all: readonly (string | undefined)[]) => boolean): Promise<void> {
    while (!isSo(this.all)) {
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
    }
  }
}
