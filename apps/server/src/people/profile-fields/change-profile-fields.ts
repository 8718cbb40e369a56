import { refused } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import type { Requester } from '../../platform/authentication/authenticate.js';
import type { ServerTransaction } from '../../tables.js';
import { type ProfileField, writeProfileField } from './profile-field-record.js';
import { lockProfileFields, readProfileFields } from './profile-field-store.js';

/**
 * Runs `change` on all profile fields and publishes the result to all users, in one transaction. Returns the result of
 * `change`.
 * @throws any error that `change` throws.
 */
export function changeProfileFields<Result>(
  { publish }: Pick<ServerContext, 'publish'>,
  actor: Requester,
  change: (transaction: ServerTransaction, fields: readonly ProfileField[]) => Promise<Result>,
): Promise<Result> {
  return actor.change(async (transaction) => {
    const result = await change(transaction, await lockProfileFields(transaction));
    const fields = (await readProfileFields(transaction.db)).map(writeProfileField);
    await publish(transaction, [{ event: { type: 'custom_profile_fields', fields }, audience: 'everyone' }]);
    return result;
  });
}

/**
 * Returns the field with this id.
 * @throws ProtocolError BAD_REQUEST if there is no such field.
 */
export function requireField(fields: readonly ProfileField[], id: number): ProfileField {
  const field = fields.find((each) => each.id === id);
  if (field === undefined) throw refused(`Field id ${id} not found.`);
  return field;
}
