import type { JourneyPhone } from './journey-phone.js';
import type { Narrator } from './narrator.js';
import { deliveriesTo, laterDeliveriesTo } from './vendor-deliveries.js';

/** Makes the phone open each new delivery, and prints the notification, until the returned function is called. */
export async function watchPhone(
  phone: JourneyPhone,
  vendorsUrl: string,
  narrator: Narrator,
): Promise<() => Promise<void>> {
  const stopped = new AbortController();
  const { signal } = stopped;
  const seen = (await deliveriesTo(phone.token, vendorsUrl)).length;
  const watching = (async () => {
    for await (const { body } of laterDeliveriesTo(phone.token, vendorsUrl, { seen, signal })) {
      const opened = await phone.client.open(body.message.data);
      if (opened.kind === 'notification')
        narrator.detail('the phone', `read: ${JSON.stringify(opened.notification)}`);
    }
  })();
  return async () => {
    stopped.abort();
    await watching;
  };
}
