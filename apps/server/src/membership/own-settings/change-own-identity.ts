import { refused } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import { planUserUpdate } from '../../people/users/plan-user-update.js';
import { applyUserChange, eventsOfUserChange } from '../../people/users/user-change.js';
import type { UserDetails } from '../../people/users/user-details.js';
import { readUserFacts } from '../../people/users/user-facts.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import type { EventsToPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../tables.js';

/** The requested name and address. `undefined` keeps the current value. */
export interface IdentityRequest {
  readonly fullName: string | undefined;
  readonly email: string | undefined;
}

/**
 * Changes the name and address of a locked user at their own request, and returns the events to publish. A new
 * address requires the permission to change other users' addresses, because the server does not confirm addresses.
 * The caller must hold the lock on groups.
 * @throws ProtocolError BAD_REQUEST if the request violates a rule.
 */
export async function changeOwnIdentity(
  transaction: ServerTransaction,
  self: UserDetails,
  requested: IdentityRequest,
  { clock, realm }: Pick<ServerContext, 'clock' | 'realm'>,
): Promise<EventsToPublish> {
  const email = requested.email?.trim();
  const wanted = { ...requested, role: undefined, email: email === self.email ? undefined : email };
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
