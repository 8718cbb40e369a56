import type { Narrator } from './narrator.js';
import { channelName, type ExistingChat, topicName } from './provision-chat.js';
import type { QuickstartPaths } from './quickstart-environments.js';

export interface Introduced {
  readonly paths: QuickstartPaths;
  readonly urls: { readonly server: string; readonly relay: string; readonly vendors: string };
  readonly chat: ExistingChat;
  /** The owner's message in the channel. */
  readonly messageId: number;
  /** Text that mentions the phone's user in a message. */
  readonly mention: string;
}

/** What the user needs to send a notification to the phone and see it arrive. */
export interface PhoneIntroduced {
  /** Link to the page where a browser acts as a phone of the same user. */
  readonly pageLink: string;
  readonly sendCommand: string;
}

/** Returns the start of a curl command that authenticates as the owner and works in any folder. */
function curlAsOwner(paths: QuickstartPaths): string {
  return `curl -K '${paths.ownerCurl.replaceAll("'", `'\\''`)}'`;
}

/** Returns a shell command that mentions the phone's user in the channel, as the owner. */
export function sendingCommand({
  paths,
  urls,
  mention,
}: Pick<Introduced, 'paths' | 'urls' | 'mention'>): string {
  const fields = `-d type=channel -d to=${channelName} -d topic=${topicName} -d 'content=${mention} look here'`;
  return `${curlAsOwner(paths)} ${urls.server}/api/v1/messages ${fields}`;
}

/** Prints addresses, file paths, a link to open, and commands to copy. */
export function introduce({ paths, urls, ...going }: Introduced, narrator: Narrator): void {
  narrator.title('Everything keeps running. Press Ctrl+C to stop.');
  narrator.detail('server', urls.server);
  narrator.detail('relay', urls.relay);
  narrator.detail('dashboard', `${urls.relay}/admin/ with the token in ${paths.adminToken}`);
  narrator.detail('vendors', `${urls.vendors}/deliveries shows the deliveries to Google and Apple`);
  narrator.detail('users', `with their API keys in ${paths.quickstartJson}`);
  narrator.detail('logs', `${paths.relayLog} and ${paths.serverLog}`);
  narrator.title('Try it yourself');
  narrator.detail('join', `open ${going.chat.invitationUrl} in a browser`);
  const curl = curlAsOwner(paths);
  const api = `${urls.server}/api/v1`;
  const { messageId, chat } = going;
  narrator.command(
    'edit a message',
    `${curl} -X PATCH ${api}/messages/${messageId} -d 'content=Hello again'`,
  );
  narrator.command('see that event', `${curl} '${api}/events?queue_id=${chat.queueId}&last_event_id=-1'`);
}

/** Prints how to send a notification to the phone. */
export function introducePhone({ pageLink, sendCommand }: PhoneIntroduced, narrator: Narrator): void {
  narrator.command('send the phone a notification, which it shows below', sendCommand);
  narrator.command(
    'watch it arrive on a phone in your browser, see what the other parties can read, and rotate a key',
    pageLink,
  );
}
