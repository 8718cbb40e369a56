import { maximumReceiptIds, type RelayReceipt } from '@waxwing/protocol';
import { Batcher } from '@waxwing/service/lifecycle';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';

type Found = RelayOutcome<RelayReceipt | undefined>;

/**
 * Fetches receipts from the relay, one request at a time. Ids that are added while a request is in flight share the
 * next request.
 */
export class GroupedReceipts {
  readonly #link: Pick<RelayLink, 'fetchReceipts'>;
  readonly #batcher = new Batcher<string, Found>((ids) => this.#findAll(ids), {
    dispatch: 'when-idle',
    maximumItems: maximumReceiptIds,
  });

  constructor(link: Pick<RelayLink, 'fetchReceipts'>) {
    this.#link = link;
  }

  /** Returns the receipt of a queued notification; `undefined` if the relay has no such receipt. */
  find(notificationId: string): Promise<Found> {
    return this.#batcher.add(notificationId);
  }

  async #findAll(ids: readonly string[]): Promise<Found[]> {
    const outcome = await this.#link.fetchReceipts(ids);
    if (outcome.kind !== 'accepted') return ids.map(() => outcome);
    const byId = new Map(outcome.answer.receipts.map((receipt) => [receipt.notification_id, receipt]));
    return ids.map((id) => ({ kind: 'accepted', answer: byId.get(id) }));
  }
}
