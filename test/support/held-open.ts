/** Keeps something open, such as a transaction, while a test observes the operations that it blocks. */
export class HeldOpen {
  #release: () => Promise<void> = async () => undefined;

  /**
   * Resolves once `work` stays open: it calls `stay`, which resolves on {@link release}. @throws the earlier errors of
   * `work`.
   */
  hold(work: (stay: () => Promise<void>) => Promise<unknown>): Promise<void> {
    return new Promise((held, failed) => {
      const working = work(
        () =>
          new Promise((end) => {
            this.#release = async () => {
              end();
              await working;
            };
            held();
          }),
      );
      working.catch(failed);
    });
  }

  /** Lets the work end, and waits for its end. */
  async release(): Promise<void> {
    await this.#release();
  }
}
