import type { Encodable } from '@waxwing/service/http';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { ServerContext } from '../../context.js';
import type { ServerTables } from '../../tables.js';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ClientCapability } from './client-capabilities.js';

/** One part of the initial state in the response to `POST /register`. Clients keep it current with events. */
export interface InitialState<Shape extends z.ZodObject = z.ZodObject> {
  /** Sent to clients that fetch events of this type. */
  readonly eventType: string;
  /** Sent only to clients that also fetch events of this type. */
  readonly alsoNeeds?: string;
  /** Not sent to clients that fetch this type, because its state contains the same information. */
  readonly withheldWith?: string;
  /** The fields of the response that this part fills. */
  readonly shape: Shape;
  /**
   * Reads the state from the database of `context`, a snapshot that is consistent with the queue. Later changes are in
   * the queue.
   */
  fetch(context: StateContext, actor: KnownUser, client: AskingClient): Promise<Encodable<z.input<Shape>>>;
  /** Reads the state for unauthenticated clients. If absent, they do not get this part. */
  fetchForSpectator?(
    context: StateContext,
    client: AskingClient,
  ): Promise<Partial<Encodable<z.input<Shape>>>>;
}

/** Properties of the registering client. */
export interface AskingClient {
  readonly capabilities: readonly ClientCapability[];
  /** Whether the client requests the subscribers of each channel. */
  readonly includesSubscribers: boolean;
  /** Whether the client derives the URLs of provider avatars itself. */
  readonly makesAvatars: boolean;
}

/** The context for reading initial state. Its database is a snapshot. */
export interface StateContext extends Omit<ServerContext, 'database'> {
  readonly database: { readonly db: Kysely<ServerTables> };
  /** Waits for the client's next tick. Call this between pieces of work that take milliseconds. */
  nextTick(): Promise<void>;
}

/** Declares a part of the initial state that is the same for all clients, including unauthenticated clients. */
export function publicState<Shape extends z.ZodObject>({
  fetch,
  ...state
}: Pick<InitialState<Shape>, 'eventType' | 'shape'> & {
  fetch(context: StateContext, client: AskingClient): Promise<Encodable<z.input<Shape>>>;
}): InitialState<Shape> {
  return {
    ...state,
    fetch: (context, _actor, client) => fetch(context, client),
    fetchForSpectator: async (context, client) => fetch(context, client),
  };
}

/** Declares a part of the initial state. Infers the type of its fields from `shape`. */
export function initialState<Shape extends z.ZodObject>(state: InitialState<Shape>): InitialState<Shape> {
  return state;
}
