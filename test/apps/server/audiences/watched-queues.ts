import type { Account, ServerUnderTest } from '../server-under-test.js';
import { describeEvent } from './describe-event.js';

export type Fields = Record<string, unknown>;
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Queue {
  readonly label: string;
  readonly account: Account;
  readonly queueId: string;
  last: number;
}

const typeLists = [
  undefined,
  ['message', 'update_message', 'delete_message'],
  ['stream', 'subscription', 'update_message'],
  ['realm_user', 'user_group', 'realm', 'stream', 'default_streams', 'invites_changed'],
  ['message'],
];

/** Sends string parameters unchanged, and other values as JSON. */
export function askWith(
  server: ServerUnderTest,
  account: Account,
  method: Method,
  path: string,
  fields: Fields,
) {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return server.ask(account, method, path, Object.fromEntries(texts));
}

/** Event queues with random options, and the events that they get. */
export class WatchedQueues {
  readonly #server: ServerUnderTest;
  readonly #random: () => number;
  readonly #queues: Queue[] = [];
  readonly #ended = new Set<Queue>();

  constructor(server: ServerUnderTest, random: () => number) {
    this.#server = server;
    this.#random = random;
  }

  get count(): number {
    return this.#queues.length;
  }

  /** Reads the queues. Returns one line for each queue that has new events or has ended. */
  async read(): Promise<string[]> {
    const lines: string[] = [];
    for (const queue of this.#queues.filter((each) => !this.#ended.has(each))) {
      const events = await this.#eventsOf(queue);
      if (events.length > 0) lines.push(`  ${queue.label}: ${events.join(', ')}`);
    }
    return lines;
  }

  /** Registers a queue with random options. */
  async open(account: Account): Promise<void> {
    const types = this.#pick(typeLists);
    const { body } = await askWith(this.#server, account, 'POST', 'register', {
      ...(types === undefined ? {} : { event_types: types }),
      fetch_event_types: [],
      ...(this.#is(0.3) ? { all_public_streams: true } : {}),
      ...(this.#is(0.2) ? { narrow: [['is', 'mentioned']] } : {}),
      client_capabilities: {
        bulk_message_deletion: this.#is(0.5),
        archived_channels: this.#is(0.5),
        include_deactivated_groups: this.#is(0.5),
        empty_topic_name: this.#is(0.5),
      },
    });
    if (typeof body.queue_id !== 'string') return;
    const label = `${this.#queues.length} ${account.email.split('@')[0]}`;
    this.#queues.push({ label, account, queueId: body.queue_id, last: -1 });
  }

  async #eventsOf(queue: Queue): Promise<string[]> {
    const { status, body } = await askWith(this.#server, queue.account, 'GET', 'events', {
      queue_id: queue.queueId,
      last_event_id: queue.last,
      dont_block: true,
    });
    if (status !== 200) {
      this.#ended.add(queue);
      return ['ended'];
    }
    const events = body.events as ({ id: number; type: string } & Fields)[];
    queue.last = events.at(-1)?.id ?? queue.last;
    return events.flatMap(describeEvent);
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value;
  }

  #is(probability: number): boolean {
    return this.#random() < probability;
  }
}
