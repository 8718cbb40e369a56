import { z } from 'zod';
import { isJsonObject, type JsonObject } from './json.js';
import type { PushAccountIdText } from './push-account-id.js';
import {
  accountsOfUser,
  relayRegisterAnyAnswer,
  relayRegisterParameters,
  tokenIdsOfUser,
} from './relay-registration.js';
import type { TokenId } from './token-id.js';
import { parseWithMessages } from './validation-message.js';
import { uuid } from './wire-fields.js';

/**
 * Path of the relay's operation that accepts many sealed registrations. Stock relays lack this operation and respond
 * with 404.
 */
export const relayRegisterManyPath = '/api/v1/remotes/push/e2ee/register_many';

/** Maximum number of registrations in one request. */
export const maximumRegistrationsAtOnce = 100;

/** Maximum size of the request's body, in bytes. */
export const registerManyBodyLimitBytes = 1024 * 1024;

const registration = relayRegisterParameters
  .omit({ realm_uuid: true })
  .extend({ accounts_of_user: accountsOfUser.optional(), token_ids_of_user: tokenIdsOfUser.optional() });
const tokenRegistration = registration.omit({ push_account_id: true }).extend({ token_id: z.string() });
type Registration = z.output<typeof registration> | z.output<typeof tokenRegistration>;

/**
 * Selects the schema of an element by its fields: `token_id` means the newer generation
 * (docs/protocol.md#two-generations).
 */
function schemaOf(value: unknown) {
  return isJsonObject(value) && 'token_id' in value ? tokenRegistration : registration;
}

const count = `must be 1 to ${maximumRegistrationsAtOnce} registrations`;
const registrations = z
  .array(z.unknown(), count)
  .min(1, count)
  .max(maximumRegistrationsAtOnce, count)
  .transform((values, context): Registration[] => {
    const parsed: Registration[] = [];
    for (const [index, value] of values.entries()) {
      const { data, error } = parseWithMessages(schemaOf(value), value);
      if (data === undefined) {
        const { path = [], message = 'is wrong' } = error?.issues[0] ?? {};
        context.addIssue({ code: 'custom', path: [index, ...path], message });
        return z.NEVER;
      }
      parsed.push(data);
    }
    return parsed;
  })
  .meta({
    openApiJson: z
      .array(z.union([registration, tokenRegistration]))
      .min(1)
      .max(maximumRegistrationsAtOnce),
  });

/**
 * JSON body of `POST /remotes/push/e2ee/register_many` (docs/protocol.md#remotespushe2eeregister_many), parsed without
 * rounding integers. Contains 1 to 100 registrations of either generation. In each registration, `accounts_of_user` and
 * `token_ids_of_user` are arrays.
 */
export const relayRegisterManyParameters = z.object({
  realm_uuid: uuid,
  registrations,
});

const success = { result: z.literal('success') };
const refusal = z.object({ result: z.literal('error'), code: z.string(), msg: z.string() });

/**
 * Result of one registration: the device, or the reason why the relay refused it. The result for a registration by
 * `token_id` has no `device_id`.
 */
const relayRegisterAnyResult = z.discriminatedUnion('result', [
  relayRegisterAnyAnswer.extend(success),
  refusal,
]);
export type RelayRegisterAnyResult = z.output<typeof relayRegisterAnyResult>;

/** The relay's response in both generations: one result per registration, in the same order. */
export const relayRegisterManyAnyAnswer = z.object({ results: z.array(relayRegisterAnyResult) });

interface SealedForRelay {
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
  /**
   * The user's other push accounts: the newest ones, up to `maximumRegistrationsOfUser`. The relay compares their
   * tokens with the token in this registration.
   */
  readonly accountsOfUser: readonly PushAccountIdText[];
  /** Ids of the user's other tokens in the newer generation, with the same maximum. */
  readonly tokenIdsOfUser: readonly TokenId[];
}

/** A registration of the newer generation that a server forwards. */
export interface ForwardedTokenRegistration extends SealedForRelay {
  readonly tokenId: TokenId;
}

/** A registration of the older generation that a server forwards. */
export interface ForwardedRegistration extends SealedForRelay {
  readonly pushAccountId: PushAccountIdText;
}

/** Builds the request for `stringifyJson`. One request may contain both generations. */
export function encodeRelayRegisterMany(
  realmUuid: string,
  items: readonly (ForwardedRegistration | ForwardedTokenRegistration)[],
): JsonObject {
  return { realm_uuid: realmUuid, registrations: items.map(encodeRegistration) };
}

function encodeRegistration(item: ForwardedRegistration | ForwardedTokenRegistration): JsonObject {
  const { accountsOfUser: accounts, tokenIdsOfUser: tokenIds } = item;
  return {
    ...('tokenId' in item ? { token_id: item.tokenId } : { push_account_id: BigInt(item.pushAccountId) }),
    encrypted_push_registration: item.encryptedPushRegistration,
    bouncer_public_key: item.bouncerPublicKey,
    ...(accounts.length > 0 && { accounts_of_user: accounts.map(BigInt) }),
    ...(tokenIds.length > 0 && { token_ids_of_user: tokenIds }),
  };
}
