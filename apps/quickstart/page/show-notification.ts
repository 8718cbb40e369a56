import type { OpenedNotification } from '@waxwing/client';
import type { BrowserPhone } from './browser-phone.js';
import { byId, make, tell, tellBytes } from './elements.js';
import { searchHolders } from './page-api.js';

/** Minimum length of a text to search for. A shorter text could occur in another party's data by chance. */
const leastSearchedCharacters = 8;

/** The part of a delivery from Google that the page shows. */
export interface Push {
  readonly data: Record<string, string>;
}

/** A notification that the service worker has decrypted. */
export interface OpenedByWorker {
  readonly title: string;
  readonly body: string;
}

/** Shows a push on the phone, and what the other parties could read of it. Ignores a message that was shown before. */
export async function showPush(phone: BrowserPhone, { data }: Push): Promise<void> {
  const opened = await phone.client.open(data);
  if (opened.kind === 'ignored') return;
  const words = showOnPhone(opened);
  const sealed = data.encrypted_data ?? '';
  tellBytes('relay-bytes', sealed, 'Padded, so that the size does not reveal the text’s length.');
  tellBytes('vendor-bytes', sealed, 'The same bytes, passed on.');
  tell('vendor-token', 'Known: the stand-in gave it to the phone.');
  tell('server-words', 'Known: the server wrote the notification and sealed it for the phone.');
  await showHolders(phone, words);
}

/** Shows a notification that came through the browser's push service and that the service worker has decrypted. */
export async function showOpened(phone: BrowserPhone, { title, body }: OpenedByWorker): Promise<void> {
  add(title, body);
  await showHolders(phone, body);
}

/** Shows a notification on the phone. Returns its text. */
function showOnPhone({ notification }: Extract<OpenedNotification, { kind: 'notification' }>): string {
  const words =
    notification.type === 'message' ? notification.content : `A ${notification.type} notification`;
  const from = notification.type === 'message' ? notification.sender_full_name : 'Waxwing';
  add(from, words);
  return words;
}

function add(from: string, words: string): void {
  byId('nothing-yet').hidden = true;
  const time = new Date().toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false });
  byId('notifications').prepend(make('li', [make('strong', from), make('time', time), make('p', words)]));
}

async function showHolders(phone: BrowserPhone, words: string): Promise<void> {
  const { text, token } = await searchHolders(words, await phone.tokenInUse());
  tellSearched('server-token', token.server, 'its database and log');
  tellSearched(
    'relay-token',
    token.relay,
    'its log or in its database, which stores the token only encrypted',
  );
  if (words.length < leastSearchedCharacters) {
    for (const id of ['relay-words', 'vendor-words'])
      tell(id, 'Not searched: such a short text could occur by chance.', 'waiting');
    return;
  }
  tellSearched('relay-words', text.relay, 'its database and log');
  tellSearched('vendor-words', text.vendor, 'its deliveries to this phone');
}

function tellSearched(id: string, isFound: boolean, where: string): void {
  if (isFound) tell(id, `Found in ${where}. It should not be there.`, 'bad');
  else tell(id, `Not found in ${where}.`, 'good');
}
