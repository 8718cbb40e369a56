/**
 * Deduplicates log lines about a persistent problem. The problem is reported once when it begins or changes, and once
 * when it ends. The caller writes the lines.
 */
export class TroubleLog {
  #trouble: string | undefined;

  /** Calls `say`, unless this problem has already been reported and has not ended. */
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
