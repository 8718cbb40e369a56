import type { roles } from '@waxwing/server';
import { afterEach, expect } from 'vitest';
import type { OrganisationUnderTest } from '../organisation-under-test.js';
import type { Account } from '../server-under-test.js';

/** Changes users. Each test has its own user. Settings are restored after each test. */
export function changesOfUsers(organisation: OrganisationUnderTest) {
  type Who = Parameters<typeof organisation.id>[0];
  const users = () => organisation.server.server.database.db;
  let made = 0;

  const somebody = (options: { role?: (typeof roles)[keyof typeof roles]; isBot?: boolean } = {}) => {
    made += 1;
    return organisation.server.addAccount(`somebody${made}@example.com`, options);
  };

  const rowOf = ({ userId }: Account) =>
    users()
      .selectFrom('users')
      .select(['email', 'full_name', 'role', 'avatar_version', 'is_active'])
      .where('id', '=', userId)
      .executeTakeFirstOrThrow();

  const set = ({ userId }: Account, values: Record<string, number | string>) =>
    users().updateTable('users').set(values).where('id', '=', userId).execute();

  const patch = (who: Who, { userId }: Account, fields: Record<string, unknown>) =>
    organisation.ask(who, 'PATCH', `users/${userId}`, fields);

  async function changed(who: Who, whom: Account, fields: Record<string, unknown>): Promise<void> {
    const { status, body } = await patch(who, whom, fields);
    expect([status, body]).toEqual([200, { result: 'success', msg: '' }]);
  }

  /** Expects a refusal and no event. */
  async function refused(who: Who, whom: Account, fields: Record<string, unknown>, code = 'BAD_REQUEST') {
    const before = await rowOf(whom);
    const events = await organisation.watch('owner');
    const { status, body } = await patch(who, whom, fields);
    expect([status, body.code]).toEqual([400, code]);
    expect([await rowOf(whom), await events()]).toEqual([before, []]);
    return body.msg as string;
  }

  const allow = (isAllowed: boolean) =>
    set(organisation.accounts.owner, { can_change_user_emails: isAllowed ? 1 : 0 });

  const restrictGuests = async (to: 'members' | 'everyone') =>
    organisation.do('owner', 'PATCH', 'realm', {
      can_access_all_users_group: { new: await organisation.roleGroup(to) },
    });

  afterEach(async () => {
    await allow(false);
    await restrictGuests('everyone');
    await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: false });
  });

  return { somebody, rowOf, set, patch, changed, refused, allow, restrictGuests };
}
