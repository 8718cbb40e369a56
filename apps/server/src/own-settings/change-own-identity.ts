import { refused } from '@waxwing/protocol';
import { isAdministrator } from '../authentication/require-administrator.js';
import type { ServerContext } from '../context.js';
import type { PublishedEvent } from '../event-queues/publish-events.js';
import { readRealmSetting } from '../realm/realm-setting-store.js';
import type { ServerTransaction } from '../tables.js';
import { planUserUpdate } from '../users/plan-user-update.js';
import { applyUserChange, eventsOfUserChange } from '../users/user-change.js';
import type { UserDetails } from '../users/user-details.js';
import { readUserFacts } from '../users/user-facts.js';

/** What a user wants to be called, and where they want to be reached; what is not said stays. */
export interface IdentityWish {
  readonly fullName: string | undefined;
  readonly email: string | undefined;
}

/**
 * Changes the name and the address of a locked user for themselves; what is to be told of it. An address is changed by those
 * alone who change others', for nobody confirms it. The caller holds the groups.
 * @throws ProtocolError BAD_REQUEST with the reason for a refusal.
 */
export async function changeOwnIdentity(
  transaction: ServerTransaction,
  self: UserDetails,
  wish: IdentityWish,
  { clock, realm }: Pick<ServerContext, 'clock' | 'realm'>,
): Promise<PublishedEvent[]> {
  const email = wish.email?.trim();
  const wanted = { ...wish, role: undefined, email: email === self.email ? undefined : email };
  const facts = await readUserFacts(transaction, { actor: self, target: self, realm }, wanted);
  const change = planUserUpdate(facts, wanted);
  if (change.fullName !== undefined && !isAdministrator(self.role)) {
    if (await readRealmSetting(transaction.db, 'name_changes_disabled')) {
      throw refused('Full name changes are disabled in this organization.');
    }
  }
  const done = await applyUserChange(transaction, self, change, clock());
  return eventsOfUserChange(transaction.db, { change, ...done, realm });
}
