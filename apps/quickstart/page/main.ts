import { createBrowserPhone } from './browser-phone.js';
import { byId, make } from './elements.js';
import { fetchPhoneFacts, sendText } from './page-api.js';
import { openedChannelName } from './shared-names.js';
import { keepRegistered } from './show-keys.js';
import { type OpenedByWorker, type Push, showOpened, showPush } from './show-notification.js';

const facts = await fetchPhoneFacts();
// One span per word, so that lines break only between words. Copying gives the command unchanged.
const words = facts.send_command
  .split(' ')
  .flatMap((word) => [make('span', word), document.createTextNode(' ')]);
byId('command').replaceChildren(...words.slice(0, -1));
const phone = await createBrowserPhone(facts);

byId('send-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const status = byId('send-status');
  try {
    const text = String(new FormData(event.target as HTMLFormElement).get('text'));
    const { devices } = await sendText(text);
    const which = devices === 2 ? 'this tab, and the one that npm start runs' : 'this tab is one of them';
    status.textContent = `On its way to ${devices} ${devices === 1 ? 'device' : 'devices'}: ${which}.`;
  } catch (error) {
    status.textContent = (error as Error).message;
  }
});

const pushes = new EventSource(`api/pushes?token=${encodeURIComponent(phone.token)}`);
let showing = Promise.resolve();
pushes.addEventListener('message', ({ data }: MessageEvent<string>) => {
  // Shows pushes one after another, so that the columns describe the newest push.
  showing = showing
    .then(() => showPush(phone, JSON.parse(data) as Push))
    .catch((error: Error) => {
      byId('send-status').textContent = error.message;
    });
});

new BroadcastChannel(openedChannelName()).addEventListener(
  'message',
  ({ data }: MessageEvent<OpenedByWorker>) => {
    showing = showing.then(() => showOpened(phone, data));
  },
);

byId('use-push-service').addEventListener('click', async () => {
  const status = byId('push-service-status');
  status.textContent = 'Subscribing …';
  try {
    await Notification.requestPermission();
    await phone.usePushService();
    await phone.registrar.sync();
    status.textContent =
      'Notifications come from this browser’s push service, even while this page is closed.';
  } catch (error) {
    status.textContent = `The push service cannot be used: ${(error as Error).message}`;
  }
});

await keepRegistered(phone);
