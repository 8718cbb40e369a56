import { defaultRegistrationsPerHour, type NotTaken } from '../registrations/registration-rate.js';
import { UserBatches } from '../registrations/user-batches.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';
import { type Acceptance, type AskedRegistration, acceptRegistrations } from './accept-registration.js';
import { enqueueForwarding } from './enqueue-forwarding.js';
import { enqueueRemoval } from './remove-relay-devices.js';
import { takeUnlessRegistered } from './take-unless-registered.js';

export type RegistrationIntakeOptions = Pick<
  ServerPushOptions,
  'clock' | 'database' | 'registrationsPerHour'
>;

export type Registered = Acceptance | NotTaken;

/** Accepts registrations in batches, one per event-loop tick. Serializes each user's registrations. */
export class RegistrationIntake {
  readonly #options: RegistrationIntakeOptions;
  readonly #batches: UserBatches<AskedRegistration, Registered>;

  constructor(options: RegistrationIntakeOptions) {
    this.#options = options;
    this.#batches = new UserBatches(options.database, (transaction, asked) =>
      this.#write(transaction, asked),
    );
  }

  /**
   * Stores a registration and returns its outcome after the commit. @throws ProtocolError as the actor's `lockUser`
   * does.
   */
  register(actor: PushActor, registration: AskedRegistration['registration']): Promise<Registered> {
    return this.#batches.add(actor, { userId: actor.userId, registration, session: actor.session });
  }

  async #write(transaction: PushTransaction, asked: readonly AskedRegistration[]): Promise<Registered[]> {
    const { clock, database, registrationsPerHour = defaultRegistrationsPerHour } = this.#options;
    const now = clock();
    const taken = await takeUnlessRegistered(transaction, asked, registrationsPerHour, now);
    const allowed = asked.filter((_each, index) => taken[index]?.kind === 'taken');
    const accepted = await acceptRegistrations(transaction, allowed, now);
    for (const outcome of accepted) {
      if (outcome.kind !== 'accepted') continue;
      await enqueueForwarding(database, transaction, outcome, now);
      await enqueueRemoval(database, transaction, { freed: outcome.freed, now });
    }
    const outcomes = accepted.values();
    return taken.map((each) => (each.kind === 'taken' ? (outcomes.next().value as Acceptance) : each));
  }
}
