import { serverOperations } from '@waxwing/server';
import { expect } from 'vitest';
import { addressVisibility } from '#server/people/users/address-visibility.js';
import type { OrganisationUnderTest } from '../organisation-under-test.js';

type Who = Parameters<OrganisationUnderTest['id']>[0];
type UserOnWire = Record<string, unknown>;

const answerShape = serverOperations.find(
  ({ method, path }) => method === 'GET' && path === '/api/v1/users',
)?.answer;

/** Reads users, and sets the visibility of their addresses. */
export function usersOnWire(organisation: OrganisationUnderTest) {
  /** The users that a client can list. Checks the response against its declared schema. */
  async function list(who: Who | undefined, parameters: Record<string, unknown> = {}): Promise<UserOnWire[]> {
    const body =
      who === undefined
        ? (await organisation.server.ask(undefined, 'GET', 'users')).body
        : await organisation.do(who, 'GET', 'users', parameters);
    const members = body.members as UserOnWire[];
    expect(answerShape?.parse({ members })).toEqual({ members });
    return members;
  }

  async function read(who: Who, whom: Who, parameters: Record<string, unknown> = {}): Promise<UserOnWire> {
    const [user] = await list(who, { user_ids: [organisation.id(whom)], ...parameters });
    return user as UserOnWire;
  }

  const show = (who: Who, to: keyof typeof addressVisibility) =>
    organisation.server.server.database.db
      .updateTable('users')
      .set({ email_address_visibility: addressVisibility[to] })
      .where('id', '=', organisation.id(who))
      .execute();

  const idsOf = (users: readonly UserOnWire[]) => users.map(({ user_id }) => user_id);

  const restrictGuests = async (to: 'members' | 'everyone') =>
    organisation.do('owner', 'PATCH', 'realm', {
      can_access_all_users_group: { new: await organisation.roleGroup(to) },
    });

  return { list, read, show, idsOf, restrictGuests };
}
