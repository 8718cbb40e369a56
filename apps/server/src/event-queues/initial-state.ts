import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import type { ServerTables } from '../tables.js';
import type { ClientCapability } from './client-capabilities.js';

/** What `POST /register` tells of one kind of event's subject, so that a client can go on from there by events. */
export interface InitialState<Shape extends z.ZodObject = z.ZodObject> {
  /** Clients that fetch events of this type get it. */
  readonly eventType: string;
  /** Only for clients that fetch events of this type as well. */
  readonly alsoNeeds?: string;
  /** Not for clients that name events of this type, whose state says the same. */
  readonly withheldWith?: string;
  /** The fields of the answer that it fills. */
  readonly shape: Shape;
  /**
   * Reads at one instant with the queue, through the database that it is given: what changes from then on is in the
   * queue.
   */
  fetch(context: StateContext, actor: KnownUser, client: AskingClient): Promise<z.input<Shape>>;
  /** What of it whoever has no account is told; nothing where there is no such function. */
  fetchForSpectator?(context: StateContext, client: AskingClient): Promise<Partial<z.input<Shape>>>;
}

/** What is known of the client that asks. */
export interface AskingClient {
  readonly capabilities: readonly ClientCapability[];
  /** Whether it wants to know who is in each channel. */
  readonly includesSubscribers: boolean;
  /** It makes the URLs of the provider's pictures itself. */
  readonly makesAvatars: boolean;
}

/** What initial state is read with: a database that stands still. */
export interface StateContext extends Omit<ServerContext, 'database'> {
  readonly database: { readonly db: Kysely<ServerTables> };
}

/** Declares a part that is the same for whoever asks, without an account too. */
export function publicState<Shape extends z.ZodObject>({
  fetch,
  ...state
}: Pick<InitialState<Shape>, 'eventType' | 'shape'> & {
  fetch(context: StateContext, client: AskingClient): Promise<z.input<Shape>>;
}): InitialState<Shape> {
  return {
    ...state,
    fetch: (context, _actor, client) => fetch(context, client),
    fetchForSpectator: async (context, client) => fetch(context, client),
  };
}

/** Declares a part of the initial state; the types of its parts follow from each other. */
export function initialState<Shape extends z.ZodObject>(state: InitialState<Shape>): InitialState<Shape> {
  return state;
}
