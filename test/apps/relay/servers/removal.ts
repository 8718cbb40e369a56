import type { Act } from '#relay/acts/record-act.js';

/** Returns the arguments that `servers remove` passes to `removeServer`. */
export function removal(serverId: string, at: number): { readonly serverId: string; readonly act: Act } {
  return { serverId, act: { actor: 'command line', action: 'servers remove', subject: serverId, at } };
}
