import type { ServerTransaction } from '#server/tables.js';
import { groupId, messageId } from '../../../../support/ids.js';
import type { OrganisationUnderTest } from '../../organisation-under-test.js';

type Who = Parameters<OrganisationUnderTest['ask']>[0];

/** Sends messages, and grants groups permission to send. */
export function sendingUnderTest(organisation: OrganisationUnderTest) {
  const send = (who: Who, parameters: Record<string, unknown>) =>
    organisation.ask(who, 'POST', 'messages', parameters);
  const sent = async (who: Who, parameters: Record<string, unknown>) =>
    Number((await organisation.do(who, 'POST', 'messages', parameters)).id);
  const stored = (id: number) =>
    organisation.server.server.database.db
      .selectFrom('messages')
      .selectAll()
      .where('id', '=', messageId(id))
      .executeTakeFirstOrThrow();
  const setPermission = (
    level: 'realm' | 'channel' | 'group',
    ownerId: number,
    name: string,
    group: number,
  ) =>
    organisation.server.server.database.write(({ db }: ServerTransaction) =>
      db
        .insertInto('permissions')
        .values({ level, owner_id: ownerId, name, group_id: groupId(group) })
        .onConflict((conflict) =>
          conflict.columns(['level', 'owner_id', 'name']).doUpdateSet({ group_id: groupId(group) }),
        )
        .execute(),
    );
  return { send, sent, stored, setPermission };
}
