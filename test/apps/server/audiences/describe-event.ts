/**
 * Describes an event without the fields that depend on other users' actions. An event about peers in several channels
 * is described once per channel, because the set of channels in one event depends on which users have a queue.
 */
export function describeEvent(event: Readonly<Record<string, unknown>>): string[] {
  const { type, op, property, flags, message_ids: messageIds, subscriptions, streams } = event;
  const parts = [type, op, property];
  if (type === 'message' || type === 'update_message') parts.push(`[${flags as string[]}]`);
  if (Array.isArray(messageIds)) parts.push(`of ${messageIds.length}`);
  if (Array.isArray(subscriptions)) parts.push(`of ${subscriptions.length}`);
  if (Array.isArray(streams)) parts.push(`of ${streams.length}`);
  const text = parts.filter((part) => part !== undefined).join(' ');
  const isAboutPeers = op === 'peer_add' || op === 'peer_remove';
  return isAboutPeers ? (event.stream_ids as number[]).map(() => text) : [text];
}
