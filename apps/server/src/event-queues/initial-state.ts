import type { z } from 'zod';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import type { ClientCapability } from './client-capabilities.js';

/** What `POST /register` tells of one kind of event's subject, so that a client can go on from there by events. */
export interface InitialState<Shape extends z.ZodObject = z.ZodObject> {
  /** Clients that fetch events of this type get it. */
  readonly eventType: string;
  /** The fields of the answer that it fills. */
  readonly shape: Shape;
  /** Read after the queue was made: whatever changes from then on is in the queue. */
  fetch(context: ServerContext, actor: KnownUser, client: AskingClient): Promise<z.input<Shape>>;
}

/** What is known of the client that asks. */
export interface AskingClient {
  readonly capabilities: readonly ClientCapability[];
}

/** Declares a part of the initial state; the types of its parts follow from each other. */
export function initialState<Shape extends z.ZodObject>(state: InitialState<Shape>): InitialState<Shape> {
  return state;
}
