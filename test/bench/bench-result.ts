/** One figure of a benchmark, with the limit or the peer's figure from the same run. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The limit's or the peer's figure, in the same unit. */
  readonly against: number;
  /** `value / against`: the only meaningful number on a shared machine. */
  readonly ratio: number;
  readonly goal: number;
  readonly better: 'higher' | 'lower';
}

export interface BenchOptions {
  /** Whether to run the long benchmarks too. The default set takes two minutes. */
  readonly full: boolean;
}

/** Medians over all rounds: the measured rate, the peer's rate, and their ratio. */
export interface Rates {
  readonly value: number;
  readonly against: number;
  readonly ratio: number;
}

/** Alternates two loops (A B A B …), so that changes in the machine's speed affect both. Returns the median rates. */
export async function medianRates(
  rounds: number,
  subject: () => Promise<number>,
  against: () => Promise<number>,
): Promise<Rates> {
  const values: number[] = [];
  const limits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    values.push(await subject());
    limits.push(await against());
  }
  const ratios = values.map((value, index) => value / (limits[index] as number));
  return { value: median(values), against: median(limits), ratio: median(ratios) };
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Calls `work` repeatedly for `milliseconds`, and returns calls per second. Reads the clock every `batch` calls. */
export function rateOf(work: () => void, milliseconds: number, batch = 64): number {
  const start = performance.now();
  let calls = 0;
  for (;;) {
    for (let index = 0; index < batch; index += 1) work();
    calls += batch;
    const elapsed = performance.now() - start;
    if (elapsed >= milliseconds) return (calls * 1000) / elapsed;
  }
}
