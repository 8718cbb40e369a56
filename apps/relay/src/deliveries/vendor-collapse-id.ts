import { createHash } from 'node:crypto';
import type { Notification } from './delivery.js';

/**
 * The collapse id that Google and Apple see. They tell notifications apart by phone and app alone, so that it must not
 * be what a server chose: two organisations on one phone would replace each other's notifications. 43 characters; Apple
 * allows 64 bytes.
 */
export function vendorCollapseId({ relayDeviceId, collapseId }: Notification): string | undefined {
  if (collapseId === undefined) return undefined;
  return createHash('sha256').update(`${relayDeviceId} ${collapseId}`).digest('base64url');
}
