import type { UserId } from '@waxwing/protocol';
import { booleanParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { idOfDummyAddress } from './address-visibility.js';
import type { UserName } from './user-details.js';

/** What readers of users say of what they want to read. */
export const recordParameters = {
  client_external_avatar: booleanParameter.default(true),
  include_custom_profile_fields: booleanParameter.default(false),
};

/** What stock clients call the parameter. */
export const avatarAlias = { client_gravatar: 'client_external_avatar' } as const;

/** A user's id, its real address, or the address that stands for a hidden one. */
export const userNameParameter = z.string();

/** Who is meant by it. */
export function readUserName(text: string, realm: ServerContext['realm']): UserName {
  const id = /^\d{1,15}$/.test(text) ? (Number(text) as UserId) : idOfDummyAddress(text, realm);
  return id === undefined ? { kind: 'address', email: text } : { kind: 'id', id };
}
