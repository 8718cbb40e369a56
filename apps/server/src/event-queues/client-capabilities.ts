import { z } from 'zod';

/** What a client can say of itself that makes a difference here; it may say more, which is not kept. */
const knownCapabilities = ['include_deactivated_groups'] as const;

export type ClientCapability = (typeof knownCapabilities)[number];

/** `client_capabilities` of `POST /register`: what the client can do, of what is known here. */
export const clientCapabilitiesShape = z
  .looseObject(
    { include_deactivated_groups: z.boolean('must be true or false').optional() },
    'must be an object',
  )
  .transform((said): ClientCapability[] => knownCapabilities.filter((name) => said[name] === true));

/** Whether a queue's client can do something; `stored` is a JSON array, or null for none. */
export function hasCapability(stored: string | null, capability: ClientCapability): boolean {
  return stored !== null && (JSON.parse(stored) as unknown[]).includes(capability);
}
