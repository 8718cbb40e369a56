import type { Kysely } from 'kysely';
import { z } from 'zod';
import { groupState } from './groups/group-state.js';
import { realmState } from './realm/realm-state.js';
import type { ServerTables } from './tables.js';

/** A part of what `POST /register` answers, under the event type by which clients ask for it. */
interface StatePart {
  readonly eventType: string;
  /** The fields that it adds to the answer. */
  readonly answer: z.ZodObject;
  fetch(db: Kysely<ServerTables>, asked: AskedState): Promise<object>;
}

export interface AskedState {
  readonly includesDeactivatedGroups: boolean;
}

/** Everything that clients may have told them when they begin. */
const parts = [realmState, groupState] as const satisfies readonly StatePart[];

/** The fields of the parts; each is there if its part was asked for. */
export const initialStateShape = z
  .object({ ...realmState.answer.shape, ...groupState.answer.shape })
  .partial();

/** The parts with these event types; all where none are named. */
export async function readInitialState(
  db: Kysely<ServerTables>,
  eventTypes: readonly string[] | undefined,
  asked: AskedState,
): Promise<z.input<typeof initialStateShape>> {
  const wanted = parts.filter(({ eventType }) => eventTypes?.includes(eventType) ?? true);
  const states = await Promise.all(wanted.map((part) => part.fetch(db, asked)));
  return Object.assign({}, ...states) as z.input<typeof initialStateShape>;
}
