import { PageHeader } from '../elements/page-header.js';
import { DeadLetters } from './dead-letters.js';
import { FrozenDeletions } from './frozen-deletions.js';

/** What the relay gave up or holds back, and needs a decision. */
export function DeliveriesPage() {
  return (
    <>
      <PageHeader title="Deliveries" />
      <DeadLetters />
      <FrozenDeletions />
    </>
  );
}
