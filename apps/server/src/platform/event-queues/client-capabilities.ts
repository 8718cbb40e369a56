import { z } from 'zod';

/** Capabilities that the server uses. Clients may send others, which are ignored. */
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

/** Parses `client_capabilities` of `POST /register` to the capabilities that are known here. */
export const clientCapabilitiesShape = z
  .looseObject(
    Object.fromEntries(knownCapabilities.map((name) => [name, flag])) as Record<
      ClientCapability,
      typeof flag
    >,
    'must be an object',
  )
  .transform((said): ClientCapability[] => knownCapabilities.filter((name) => said[name] === true));

/**
 * Caches parsed capabilities, because each event checks them for each queue. Stays small: clients send only a few
 * different sets.
 */
const readBefore = new Map<string, ReadonlySet<unknown>>();

/** Whether a queue's client has a capability. `stored` is a JSON array, or null for none. */
export function hasCapability(stored: string | null, capability: ClientCapability): boolean {
  if (stored === null) return false;
  const capabilities = readBefore.get(stored) ?? new Set(JSON.parse(stored) as unknown[]);
  readBefore.set(stored, capabilities);
  return capabilities.has(capability);
}
