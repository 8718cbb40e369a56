/**
 * Deduplicates log lines about a persistent problem: reports it once when it begins or changes, and once when it ends.
 * The caller writes the lines.
 */
export class TroubleLog {
  #trouble: string | undefined;

  /** Calls `say` unless this problem was already reported and has not ended. */
  begin(trouble: string, say: () => void): void {
    if (this.#trouble === trouble) return;
    this.#trouble = trouble;
    say();
  }

  /** Calls `say` if there was a problem. */
  end(say: () => void): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    say();
  }
}
