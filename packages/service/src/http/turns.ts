/**
 * Node accepts one connection in each turn of the event loop, so that how long a turn takes bounds how many others get
 * in: a hundred a second with this.
 */
const maximumTurnMilliseconds = 10;
const maximumActsPerTurn = 256;

/**
 * Begins one thing after the other and lets the sockets be looked at in between: in the order in which they were asked
 * for, but those that follow others of the same sender and those that do not alternately, so that nobody waits
 * behind a crowd of senders who ask for much at once. How long a thing takes includes all that follows from it without
 * waiting for anything outside.
 */
export class Turns {
  readonly #first: (() => void)[] = [];
  readonly #following: (() => void)[] = [];
  #isFirstNext = true;
  #scheduled = 0;
  #endsAt: number | undefined;

  /** `isFollowing` says that its sender asked for it while something else of theirs was under way. */
  begin(act: () => void, isFollowing: boolean): void {
    (isFollowing ? this.#following : this.#first).push(act);
    this.#schedule();
  }

  /** One for each thing, because Node does what follows from one before it comes to the next. */
  #schedule(): void {
    const waiting = this.#first.length + this.#following.length;
    if (this.#scheduled >= Math.min(waiting, maximumActsPerTurn)) return;
    this.#scheduled += 1;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    this.#scheduled -= 1;
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + maximumTurnMilliseconds;
      setImmediate(() => {
        this.#endsAt = undefined;
      });
    }
    if (now < this.#endsAt) this.#take()?.();
    this.#schedule();
  };

  #take(): (() => void) | undefined {
    const isFirst = this.#following.length === 0 || (this.#isFirstNext && this.#first.length > 0);
    this.#isFirstNext = !isFirst;
    return (isFirst ? this.#first : this.#following).shift();
  }
}
