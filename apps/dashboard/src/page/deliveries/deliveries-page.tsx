import { PageHeader } from '../elements/page-header.js';
import { DeadLetters } from './dead-letters.js';
import { FrozenDeletions } from './frozen-deletions.js';

/** Page with dead letters and frozen deletions, which need the operator's decision. */
export function DeliveriesPage() {
  return (
    <>
      <PageHeader title="Deliveries" />
      <DeadLetters />
      <FrozenDeletions />
    </>
  );
}
