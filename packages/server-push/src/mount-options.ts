import { ProtocolError, type UserId } from '@waxwing/protocol';
import type { RequestHead } from '@waxwing/service/http';
import { createLogger } from '@waxwing/service/logging';
import { Metrics } from '@waxwing/service/metrics';
import { loadFastestSodium } from '@waxwing/sodium/native';
import type { PushActor, ServerPushOptions } from './server-push-options.js';
import type { ServerPushTables } from './tables.js';

/** An authenticated user of the host, with the fields that push uses. */
export interface HostActor<Tables = ServerPushTables> {
  /** A positive integer. */
  readonly userId: number;
  /** Bots have no phones, so push refuses their requests. Default: `false`. */
  readonly isBot?: boolean;
  /** See {@link PushActor.session}. Default: none. */
  readonly session?: string | undefined;
  /**
   * See {@link PushActor.lockUser}. Default: locks nothing, which is right for hosts that store users in another
   * database.
   */
  readonly lockUser?: PushActor<Tables>['lockUser'];
}

type Optional = 'sodium' | 'clock' | 'random' | 'log' | 'metrics';

/** Options that a host passes to `createServerPush`; `Tables` are all tables of its database. */
export interface MountOptions<Tables = ServerPushTables>
  extends Omit<ServerPushOptions<Tables>, Optional | 'authenticate' | 'publish'>,
    Partial<Pick<ServerPushOptions, Optional>> {
  /**
   * Publishes events about a user's registrations to the user's clients. Provide it if the host has a chat API or
   * another way to reach the clients. Default: publishes nothing.
   */
  readonly publish?: ServerPushOptions<Tables>['publish'];
  /**
   * Whether push itself serves `POST /api/v1/register` and `GET /api/v1/events`. `@waxwing/client` uses them to learn
   * the outcome of a registration. Default: `true` if `publish` is absent, otherwise `false`.
   */
  readonly ownEvents?: boolean;
  /**
   * Authenticates a request by its head, before the body is read. If it returns `undefined` because credentials are
   * missing or wrong, push responds with 401 `INVALID_API_KEY`.
   *
   * @throws ProtocolError to refuse the request with another error.
   */
  readonly authenticate: (head: RequestHead) => Promise<HostActor<Tables> | undefined>;
}

/**
 * Fills in the options that the host omitted: the fastest libsodium that loads, the system clock, `Math.random`, a log
 * of warnings on standard output, and metrics that are not exported.
 */
export async function withDefaults<Tables>(
  options: MountOptions<Tables>,
): Promise<ServerPushOptions<Tables>> {
  const { publish = async () => undefined } = options;
  const { clock = Date.now, random = Math.random, metrics = new Metrics() } = options;
  const log = options.log ?? createLogger('server-push', 'warn');
  const sodium = options.sodium ?? (await loadSodium(log));
  return {
    ...options,
    publish,
    clock,
    random,
    metrics,
    log,
    sodium,
    async authenticate(head) {
      const actor = await options.authenticate(head);
      if (actor === undefined) throw new ProtocolError('INVALID_API_KEY');
      const { isBot = false, lockUser = async () => undefined } = actor;
      const userId = requireUserId(actor.userId);
      head.setActor(`user ${userId}`);
      return { userId, isBot, lockUser, session: actor.session };
    },
  };
}

/**
 * Returns the id with its branded type. @throws TypeError if it is not a positive integer (for example, if it is a
 * UUID).
 */
export function requireUserId(userId: number): UserId {
  if (Number.isSafeInteger(userId) && userId > 0) return userId as UserId;
  throw new TypeError(
    'A user id must be a positive integer: assign integers to your users if their ids are different.',
  );
}

async function loadSodium(log: ServerPushOptions['log']): Promise<ServerPushOptions['sodium']> {
  const { sodium, nativeUnavailableReason } = await loadFastestSodium();
  if (nativeUnavailableReason !== undefined) log.warn(nativeUnavailableReason);
  return sodium;
}
