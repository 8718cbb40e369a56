/**
 * Says what is wrong once and not at each try: again only when it is something else, and once when it is over. What is
 * said is up to the caller.
 */
export class TroubleLog {
  #trouble: string | undefined;

  /** Calls `say` unless `trouble` was begun last and is not over. */
  begin(trouble: string, say: () => void): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    say();
  }

  /** Calls `say` if something was wrong. */
  end(say: () => void): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    say();
  }
}
