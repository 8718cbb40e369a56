import { setTimeout as wait } from 'node:timers/promises';
import type { JourneyPhone } from './journey-phone.js';
import type { Narrator } from './narrator.js';
import { deliveriesTo } from './vendor-deliveries.js';

const pollMilliseconds = 250;

/** Has the phone open and show whatever is delivered to it from now on, until the answer is called. */
export async function watchPhone(
  phone: JourneyPhone,
  vendorsUrl: string,
  narrator: Narrator,
): Promise<() => Promise<void>> {
  const stopped = new AbortController();
  let seen = (await deliveriesTo(phone.token, vendorsUrl)).length;
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      const deliveries = await deliveriesTo(phone.token, vendorsUrl);
      // Somebody may have emptied the list.
      seen = Math.min(seen, deliveries.length);
      for (const { body } of deliveries.slice(seen)) {
        const opened = await phone.client.open(body.message.data);
        if (opened.kind === 'notification')
          narrator.detail('the phone', `read: ${JSON.stringify(opened.notification)}`);
      }
      seen = deliveries.length;
      await wait(pollMilliseconds, undefined, { signal: stopped.signal }).catch((error: Error) => {
        if (error.name !== 'AbortError') throw error;
      });
    }
  })();
  return async () => {
    stopped.abort();
    await watching;
  };
}
