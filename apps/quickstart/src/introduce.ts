import { relative } from 'node:path';
import type { Narrator } from './narrator.js';
import { type ChatToGoOn, channelName, topicName } from './provision-chat.js';
import type { QuickstartPaths } from './quickstart-environments.js';

export interface Introduced {
  readonly paths: QuickstartPaths;
  readonly urls: { readonly server: string; readonly relay: string; readonly vendors: string };
  readonly chat: ChatToGoOn;
  /** The owner's, in the channel. */
  readonly messageId: number;
  /** Names the phone's user in a message. */
  readonly mention: string;
  /** Whether there is a relay, and so a phone that is told of anything. */
  readonly withPhone: boolean;
}

/** Says where everything is, and how to go on: a link to open, and commands to copy. */
export function introduce({ paths, urls, ...going }: Introduced, narrator: Narrator): void {
  narrator.title('Everything keeps running. Press Ctrl+C to stop.');
  narrator.detail('server', urls.server);
  narrator.detail('relay', urls.relay);
  narrator.detail('vendors', `${urls.vendors}/deliveries shows what Google and Apple were handed`);
  narrator.detail('users', `with their API keys in ${paths.quickstartJson}`);
  narrator.detail('logs', `${paths.relayLog} and ${paths.serverLog}`);
  narrator.title('Go on by yourself');
  narrator.detail('join', `open ${going.chat.invitationUrl} in a browser`);
  const curl = `curl -K '${relative('.', paths.ownerCurl)}'`;
  const api = `${urls.server}/api/v1`;
  const command = (what: string, line: string): void => {
    narrator.line(`   ${what}:`);
    narrator.line(`   ${line}`);
  };
  const { messageId, chat, mention } = going;
  command('edit a message', `${curl} -X PATCH ${api}/messages/${messageId} -d 'content=Hello again'`);
  command('see that event', `${curl} '${api}/events?queue_id=${chat.queueId}&last_event_id=-1'`);
  if (!going.withPhone) return;
  const fields = `-d type=channel -d to=${channelName} -d topic=${topicName} -d 'content=${mention} look here'`;
  command('send the phone a notification, which it shows below', `${curl} ${api}/messages ${fields}`);
}
