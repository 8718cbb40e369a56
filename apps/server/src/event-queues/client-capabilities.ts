import { z } from 'zod';

/** What a client can say of itself that makes a difference here; it may say more, which is not kept. */
const knownCapabilities = [
  'include_deactivated_groups',
  'archived_channels',
  'empty_topic_name',
  'bulk_message_deletion',
  'user_list_incomplete',
  'notification_settings_null',
  'linkifier_url_template',
] as const;

export type ClientCapability = (typeof knownCapabilities)[number];

const flag = z.boolean('must be true or false').optional();

/** `client_capabilities` of `POST /register`: what the client can do, of what is known here. */
export const clientCapabilitiesShape = z
  .looseObject(
    Object.fromEntries(knownCapabilities.map((name) => [name, flag])) as Record<
      ClientCapability,
      typeof flag
    >,
    'must be an object',
  )
  .transform((said): ClientCapability[] => knownCapabilities.filter((name) => said[name] === true));

/** What was stored and read before: each event is asked about for each queue, and there are few sets of capabilities. */
const readBefore = new Map<string, ReadonlySet<unknown>>();

/** Whether a queue's client can do something; `stored` is a JSON array, or null for none. */
export function hasCapability(stored: string | null, capability: ClientCapability): boolean {
  if (stored === null) return false;
  const capabilities = readBefore.get(stored) ?? new Set(JSON.parse(stored) as unknown[]);
  readBefore.set(stored, capabilities);
  return capabilities.has(capability);
}
