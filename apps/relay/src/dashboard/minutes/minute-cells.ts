import { type TokenKind, tokenKinds } from '@waxwing/protocol';

/** Key of one per-minute figure: two columns of `minute_counts`. */
export interface MinuteCell {
  /** Empty for figures without a vendor. */
  readonly vendor: TokenKind | '';
  readonly outcome: string;
}

export type DeliveryOutcome = 'delivered' | 'rejected' | 'retried';

export const deliveryOutcomes: readonly DeliveryOutcome[] = ['delivered', 'rejected', 'retried'];

/** Upper bounds of the delivery latency buckets, in milliseconds. */
export const latencyBounds = [
  50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 600_000, 86_400_000,
];

/** All per-minute figures. */
export const minuteCells: readonly MinuteCell[] = [
  { vendor: '', outcome: 'registered' },
  ...latencyBounds.map((bound): MinuteCell => ({ vendor: '', outcome: `within ${bound}` })),
  ...tokenKinds.flatMap((vendor) => deliveryOutcomes.map((outcome): MinuteCell => ({ vendor, outcome }))),
];

const indexes = new Map(minuteCells.map((cell, index) => [`${cell.vendor} ${cell.outcome}`, index]));

/**
 * Returns the index of a figure in {@link minuteCells}; `undefined` for a figure that another version of the relay
 * stored.
 */
export function indexOfCell({ vendor, outcome }: { vendor: string; outcome: string }): number | undefined {
  return indexes.get(`${vendor} ${outcome}`);
}
