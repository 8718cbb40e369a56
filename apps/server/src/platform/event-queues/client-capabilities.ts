import { z } from 'zod';

/** The capabilities that the server uses. The server ignores all other capabilities that clients send. */
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

/** Parses `client_capabilities` of `POST /register`. Keeps only the capabilities that the server uses. */
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
 * Caches parsed capabilities, because they are checked for each event and queue. The cache stays small, because clients
 * send only a few different sets.
 */
const readBefore = new Map<string, ReadonlySet<unknown>>();

/**
 * Returns whether a queue's client has a capability. `stored` is a JSON array, or null if the client has no
 * capabilities.
 */
export function hasCapability(stored: string | null, capability: ClientCapability): boolean {
  if (stored === null) return false;
  const capabilities = readBefore.get(stored) ?? new Set(JSON.parse(stored) as unknown[]);
  readBefore.set(stored, capabilities);
  return capabilities.has(capability);
}
