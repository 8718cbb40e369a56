import type { Channel } from '../channels/channel-store.js';
import type { Membership } from '../channels/subscription-store.js';

/** Groups the channel names of memberships by user id, in the format of responses. */
export function namesByUser(
  memberships: readonly Membership[],
  channels: readonly Channel[],
): Record<string, string[]> {
  const nameOf = new Map(channels.map(({ id, name }) => [id, name]));
  const names: Record<string, string[]> = {};
  for (const { channelId, userId } of memberships) {
    const own = names[String(userId)] ?? [];
    own.push(nameOf.get(channelId) ?? '');
    names[String(userId)] = own;
  }
  return names;
}
