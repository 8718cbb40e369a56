import { z } from 'zod';
import type { JsonObject } from './json.js';
import type { PushAccountIdText } from './push-account-id.js';
import { accountsOfUser, relayRegisterAnswer, relayRegisterParameters } from './relay-registration.js';
import { validationMessages } from './validation-message.js';
import { uuid } from './wire-fields.js';

/**
 * Path of the relay's operation that accepts many sealed registrations. A stock relay does not have it and answers
 * 404.
 */
export const relayRegisterManyPath = '/api/v1/remotes/push/e2ee/register_many';

/** Maximum registrations in one request. */
export const maximumRegistrationsAtOnce = 100;

/** Maximum body of that request, in bytes. */
export const registerManyBodyLimitBytes = 1024 * 1024;

const registration = relayRegisterParameters.omit({ realm_uuid: true, accounts_of_user: true });
type Registration = z.output<typeof registration>;

const count = `must be 1 to ${maximumRegistrationsAtOnce} registrations`;
const registrations = z
  .array(z.unknown(), count)
  .min(1, count)
  .max(maximumRegistrationsAtOnce, count)
  .transform((values, context): Registration[] => {
    const parsed: Registration[] = [];
    for (const [index, value] of values.entries()) {
      const { data, error } = registration.safeParse(value, validationMessages);
      if (data === undefined) {
        const { path = [], message = 'is wrong' } = error?.issues[0] ?? {};
        context.addIssue({ code: 'custom', path: [index, ...path], message });
        return z.NEVER;
      }
      parsed.push(data);
    }
    return parsed;
  })
  .meta({ openApiJson: z.array(registration).min(1).max(maximumRegistrationsAtOnce) });

/**
 * JSON body of `POST /remotes/push/e2ee/register_many` (docs/protocol.md#remotespushe2eeregister_many), parsed without
 * rounding integers. 1 to 100 registrations. Each element of `accounts_of_users` is one user's accounts.
 */
export const relayRegisterManyParameters = z.object({
  realm_uuid: uuid,
  registrations,
  accounts_of_users: z.array(accountsOfUser).max(maximumRegistrationsAtOnce).optional(),
});

/** Result of one registration: its device, or why it was refused. */
const relayRegisterResult = z.discriminatedUnion('result', [
  relayRegisterAnswer.extend({ result: z.literal('success') }),
  z.object({ result: z.literal('error'), code: z.string(), msg: z.string() }),
]);
export type RelayRegisterResult = z.output<typeof relayRegisterResult>;

/** The relay's answer: one result per registration, in order. */
export const relayRegisterManyAnswer = z.object({ results: z.array(relayRegisterResult) });

/** A registration that a server forwards. */
export interface ForwardedRegistration {
  /** Decimal text. */
  readonly pushAccountId: PushAccountIdText;
  /** Base64. */
  readonly encryptedPushRegistration: string;
  readonly bouncerPublicKey: string;
  /** The user's push accounts, at most the newest `maximumAccountsOfUser`. The relay compares their tokens. */
  readonly accountsOfUser: readonly PushAccountIdText[];
}

/** Builds the request for `stringifyJson`. */
export function encodeRelayRegisterMany(
  realmUuid: string,
  items: readonly ForwardedRegistration[],
): JsonObject {
  const users = new Set(
    items.flatMap((item) => (item.accountsOfUser.length > 1 ? [item.accountsOfUser.join()] : [])),
  );
  return {
    realm_uuid: realmUuid,
    registrations: items.map(({ pushAccountId, encryptedPushRegistration, bouncerPublicKey }) => ({
      push_account_id: BigInt(pushAccountId),
      encrypted_push_registration: encryptedPushRegistration,
      bouncer_public_key: bouncerPublicKey,
    })),
    ...(users.size > 0 && { accounts_of_users: [...users].map((ids) => ids.split(',').map(BigInt)) }),
  };
}
