import { ProtocolError, type UserId } from '@waxwing/protocol';
import { Batcher } from '@waxwing/service/lifecycle';
import { mayBeOneWritesFault } from '@waxwing/storage';
import { OneAtATime } from '../one-at-a-time.js';
import type { PushActor, ServerPushOptions } from '../server-push-options.js';
import type { PushTransaction } from '../tables.js';

/** A change requested by a user's phone. */
interface Asked {
  readonly userId: UserId;
}

interface Pending<Item> {
  readonly item: Item;
  readonly lockUser: PushActor['lockUser'];
}

/** Why a change was refused: for example, the user was deactivated. */
interface Failure {
  readonly kind: 'failed';
  readonly error: unknown;
}

/** Maximum attempts per change while other processes change devices of the same user. */
const mostTries = 4;

/**
 * Makes changes in batches, one batch and one transaction per event-loop tick. Serializes each user's changes, and
 * locks the user. Retries after the outcome `busy`, at most three times.
 */
export class UserBatches<Item extends Asked, Outcome extends { readonly kind: string }> {
  readonly #ofUser = new OneAtATime();
  readonly #database: Pick<ServerPushOptions['database'], 'writeBatched'>;
  readonly #write: (transaction: PushTransaction, items: readonly Item[]) => Promise<readonly Outcome[]>;
  readonly #batcher = new Batcher<Pending<Item>, Outcome | Failure>((pending) => this.#writeAll(pending), {
    isolates: mayBeOneWritesFault,
  });

  /** @param write makes at most one change per user, and returns the outcomes in order. */
  constructor(
    database: Pick<ServerPushOptions['database'], 'writeBatched'>,
    write: (transaction: PushTransaction, items: readonly Item[]) => Promise<readonly Outcome[]>,
  ) {
    this.#database = database;
    this.#write = write;
  }

  /** Makes a change and returns its outcome after the commit. @throws ProtocolError as the actor's `lockUser` does. */
  add({ lockUser }: Pick<PushActor, 'lockUser'>, item: Item): Promise<Outcome> {
    return this.#ofUser.run(item.userId, () => this.#add({ item, lockUser }));
  }

  async #add(pending: Pending<Item>): Promise<Outcome> {
    let outcome = await this.#batcher.add(pending);
    for (let tries = 1; outcome.kind === 'busy' && tries < mostTries; tries++) {
      outcome = await this.#batcher.add(pending);
    }
    if (isFailure(outcome)) throw outcome.error;
    return outcome;
  }

  /**
   * Makes the changes of one batch. Returns refusals instead of throwing: a throw would roll back the other changes of
   * the transaction and repeat them.
   */
  #writeAll(pending: readonly Pending<Item>[]): Promise<(Outcome | Failure)[]> {
    return this.#database.writeBatched(async (transaction) => {
      const outcomes = new Map<Pending<Item>, Outcome | Failure>();
      for (const each of inOneOrder(pending)) {
        const error = await refusalOf(() => each.lockUser(transaction));
        if (error !== undefined) outcomes.set(each, { kind: 'failed', error });
      }
      const held = pending.filter((each) => !outcomes.has(each));
      const items = held.map(({ item }) => item);
      const written = items.length === 0 ? [] : await this.#write(transaction, items);
      for (const [index, each] of held.entries()) outcomes.set(each, written[index] as Outcome);
      return pending.map((each) => outcomes.get(each) as Outcome | Failure);
    });
  }
}

function isFailure(outcome: { readonly kind: string }): outcome is Failure {
  return outcome.kind === 'failed';
}

/** Sorts by user, because two transactions that lock the same users in different orders could deadlock. */
function inOneOrder<Item extends Asked>(pending: readonly Pending<Item>[]): Pending<Item>[] {
  return [...pending].sort((a, b) => a.item.userId - b.item.userId);
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
