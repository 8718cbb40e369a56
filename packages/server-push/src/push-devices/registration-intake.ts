import { ProtocolError } from '@waxwing/protocol';
import { Batcher } from '@waxwing/service/lifecycle';
import { mayBeOneWritesFault } from '@waxwing/storage';
import { OneAtATime } from '../one-at-a-time.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { type Acceptance, type AskedRegistration, acceptRegistrations } from './accept-registration.js';
import { enqueueForwarding } from './forward-registration.js';
import {
  defaultRegistrationsPerHour,
  type TakenRegistration,
  takeRegistrations,
} from './registration-rate.js';
import { enqueueRemoval } from './remove-relay-devices.js';

export type RegistrationIntakeOptions = Pick<
  ServerPushOptions,
  'clock' | 'database' | 'registrationsPerHour'
>;

interface Asked extends AskedRegistration {
  readonly lockUser: PushActor['lockUser'];
}

export type Registered = Acceptance | Exclude<TakenRegistration, { kind: 'taken' }>;

type Outcome = Registered | { readonly kind: 'failed'; readonly error: unknown };

/** Attempts per registration while other processes register devices of the same user. */
const mostTries = 4;

/** Accepts registrations in batches, one per event-loop tick. Serializes those of one user. */
export class RegistrationIntake {
  readonly #options: RegistrationIntakeOptions;
  readonly #ofUser = new OneAtATime();
  readonly #batcher = new Batcher<Asked, Outcome>((asked) => this.#registerAll(asked), {
    isolates: mayBeOneWritesFault,
  });

  constructor(options: RegistrationIntakeOptions) {
    this.#options = options;
  }

  /** Returns the committed outcome. @throws ProtocolError as the actor's `lockUser` does; errors of the database. */
  register(actor: PushActor, registration: AskedRegistration['registration']): Promise<Registered> {
    const { userId, lockUser } = actor;
    return this.#ofUser.run(userId, () => this.#register({ userId, lockUser, registration }));
  }

  async #register(asked: Asked): Promise<Registered> {
    let outcome = await this.#batcher.add(asked);
    for (let tries = 1; outcome.kind === 'busy' && tries < mostTries; tries++) {
      outcome = await this.#batcher.add(asked);
    }
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome;
  }

  #registerAll(asked: readonly Asked[]): Promise<Outcome[]> {
    return this.#options.database.writeBatched((transaction) => this.#write(transaction, asked));
  }

  /**
   * Returns rate limits instead of throwing: a throw would roll back and repeat the other writes of the transaction.
   */
  async #write(transaction: PushTransaction, asked: readonly Asked[]): Promise<Outcome[]> {
    const { clock, database, registrationsPerHour = defaultRegistrationsPerHour } = this.#options;
    const now = clock();
    const outcomes = new Map<Asked, Outcome>();
    const inOrder = inOneOrder(asked);
    for (const each of inOrder) {
      const error = await refusalOf(() => each.lockUser(transaction));
      if (error !== undefined) outcomes.set(each, { kind: 'failed', error });
    }
    const held = inOrder.filter((each) => !outcomes.has(each));
    const taken = await takeRegistrations(transaction, held, registrationsPerHour, now);
    for (const [index, each] of held.entries()) outcomes.set(each, taken[index] as Outcome);
    const allowed = held.filter((_each, index) => taken[index]?.kind === 'taken');
    const accepted = await acceptRegistrations(transaction, allowed, now);
    for (const [index, each] of allowed.entries()) outcomes.set(each, accepted[index] as Acceptance);
    const answers = asked.map((each) => outcomes.get(each) as Outcome);
    for (const outcome of answers) {
      if (outcome.kind !== 'accepted') continue;
      await enqueueForwarding(database, transaction, outcome, now);
      await enqueueRemoval(database, transaction, { freed: outcome.freed, now });
    }
    return answers;
  }
}

/** A fixed lock order: two transactions for the same users would otherwise deadlock. */
function inOneOrder(asked: readonly Asked[]): Asked[] {
  return [...asked].sort((a, b) => a.userId - b.userId);
}

/** Returns the ProtocolError that `work` throws; rethrows other errors. */
async function refusalOf(work: () => Promise<void>): Promise<ProtocolError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
}
