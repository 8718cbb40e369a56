import type { UserId } from '@waxwing/protocol';
import { booleanParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { idOfDummyAddress } from './address-visibility.js';
import type { UserName } from './user-details.js';

/** The parameters that select optional fields of user records. */
export const recordParameters = {
  client_external_avatar: booleanParameter.default(true),
  include_custom_profile_fields: booleanParameter.default(false),
};

/** The name that stock clients use for the parameter `client_external_avatar`. */
export const avatarAlias = { client_gravatar: 'client_external_avatar' } as const;

/** A user's id, real address, or dummy address. */
export const userNameParameter = z.string();

/** Parses a {@link userNameParameter}. */
export function readUserName(text: string, realm: ServerContext['realm']): UserName {
  const id = /^\d{1,15}$/.test(text) ? (Number(text) as UserId) : idOfDummyAddress(text, realm);
  return id === undefined ? { kind: 'address', email: text } : { kind: 'id', id };
}
