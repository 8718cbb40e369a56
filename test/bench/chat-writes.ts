import { type BenchResult, medianRates } from './bench-result.js';
import { type Ask, withBenchTarget } from './bench-target.js';
import { type ChatChannel, sendRequest } from './chat-channel.js';
import { HttpLoad } from './http-load.js';

const rounds = 7;
/** A short round: queues are emptied only between rounds, and the server removes a queue with a thousand events. */
const roundMilliseconds = 700;
const connections = 16;

/** Ready message of the measured process. */
export interface WritesTarget {
  readonly port: number;
  readonly minimalPort: number;
  readonly senders: readonly ChatChannel[];
  /** Each message with its sender. */
  readonly messages: readonly { readonly id: number; readonly authorization: string }[];
}

/**
 * `chat-send-one`, `chat-edit` and `chat-channel`: messages to one subscriber, edits of messages, and changes to the
 * channel's description, each per second of CPU time and durable on SQLite. The peer is a minimal Fastify handler in
 * the same process that commits the same rows and events.
 */
export async function run(): Promise<BenchResult[]> {
  const program = new URL('./chat-writes-target.ts', import.meta.url);
  return withBenchTarget<WritesTarget, BenchResult[]>(program, [], async (target, ask) => {
    const results: BenchResult[] = [];
    for (const { name, goal, requests } of operationsOn(target)) {
      const rates = await measure(target, ask, requests);
      results.push({ name, unit: 'requests/s of CPU', ...rates, goal, better: 'higher' });
    }
    return results;
  });
}

async function measure({ port, minimalPort }: WritesTarget, ask: Ask, nextRequest: () => Buffer) {
  const ours = await HttpLoad.open({ port, connections, nextRequest });
  const minimal = await HttpLoad.open({ port: minimalPort, connections, nextRequest });
  const perProcessorSecond = async (load: HttpLoad): Promise<number> => {
    const before = await ask<number>('empty');
    const start = performance.now();
    const rate = await load.run(roundMilliseconds);
    const answers = (rate * (performance.now() - start)) / 1000;
    return answers / ((await ask<number>('empty')) - before);
  };
  await perProcessorSecond(ours);
  await perProcessorSecond(minimal);
  const rates = await medianRates(
    rounds,
    () => perProcessorSecond(ours),
    () => perProcessorSecond(minimal),
  );
  ours.close();
  minimal.close();
  return rates;
}

function operationsOn({ senders, messages }: WritesTarget) {
  const content = 'a message that is **neither** long nor short, and that nobody waits for';
  const sends = inTurn(senders.map((sender) => sendRequest(sender, content)));
  const edited = inTurn(messages);
  const describing = inTurn(senders);
  let count = 0;
  const edit = (): Buffer => {
    const { id, authorization } = edited();
    return patch(authorization, `messages/${id}`, { content: `edited for the ${count++}th time` });
  };
  const describe = (): Buffer => {
    const { id, authorization } = describing();
    return patch(authorization, `streams/${id}`, { description: `described for the ${count++}th time` });
  };
  return [
    { name: 'chat-send-one', goal: 0.4, requests: sends },
    { name: 'chat-edit', goal: 0.25, requests: edit },
    { name: 'chat-channel', goal: 0.25, requests: describe },
  ];
}

/** Returns a function that cycles through the items. */
function inTurn<Item>(items: readonly Item[]): () => Item {
  let next = 0;
  return () => items[next++ % items.length] as Item;
}

function patch(authorization: string, path: string, fields: Record<string, string>): Buffer {
  const body = new URLSearchParams(fields).toString();
  return Buffer.from(
    `PATCH /api/v1/${path} HTTP/1.1\r\nHost: chat\r\nAuthorization: ${authorization}\r\n` +
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
