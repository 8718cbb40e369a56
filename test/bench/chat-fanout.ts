import { type BenchResult, medianRates } from './bench-result.js';
import { type ChatChannel, emptyQueues, makeChannel, sendRequest } from './chat-channel.js';
import { type ChatServer, startChatServer } from './chat-server.js';
import { HttpLoad } from './http-load.js';

const rounds = 7;
const roundMilliseconds = 1500;
const atOnce = 8;
const few = 50;
const many = 5000;

/**
 * `chat-fanout`: cost of a message to a channel of 5,000 subscribers with live queues, divided by 100 times the cost
 * with 50 subscribers. A ratio of 1 would mean that the cost is proportional to the number of queues.
 */
export async function run(): Promise<BenchResult[]> {
  const chat = await startChatServer();
  try {
    const large = await openLoad(
      chat,
      await makeChannel(chat, { name: 'large', subscribers: many, queues: many }),
    );
    const small = await openLoad(
      chat,
      await makeChannel(chat, { name: 'small', subscribers: few, queues: few }),
    );
    const cost = async (load: HttpLoad): Promise<number> => {
      await emptyQueues(chat);
      return 1000 / (await load.run(roundMilliseconds));
    };
    await cost(large);
    await cost(small);
    const { value, against, ratio } = await medianRates(
      rounds,
      () => cost(large),
      () => cost(small),
    );
    for (const load of [large, small]) load.close();
    const share = many / few;
    const figures = { value, against: against * share, ratio: ratio / share };
    return [{ name: 'chat-fanout', unit: 'ms/message', ...figures, goal: 0.2, better: 'lower' }];
  } finally {
    await chat.close();
  }
}

function openLoad({ port }: ChatServer, channel: ChatChannel): Promise<HttpLoad> {
  const request = sendRequest(channel, 'hello');
  return HttpLoad.open({ port, connections: atOnce, nextRequest: () => request });
}
