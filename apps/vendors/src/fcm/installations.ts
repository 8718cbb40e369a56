import { LRUCache } from 'lru-cache';

const maximumRemembered = 10_000;
const installationId = /^[cdef][\w-]{21}$/;

/**
 * Installations that have received a message by their ids. From then on, FCM refuses the registration token of the same
 * installation, which starts with the id and a colon.
 */
export class Installations {
  readonly #reached = new LRUCache<string, true>({ max: maximumRemembered });

  /** Records that a message was sent to a target: a token, or an installation id in the `token` or `fid` field. */
  sentTo(target: string): void {
    if (installationId.test(target)) this.#reached.set(target, true);
  }

  /** Whether the target is a registration token of an installation that has received a message by its id. */
  hasEnded(target: string): boolean {
    const colon = target.indexOf(':');
    return colon > 0 && this.#reached.has(target.slice(0, colon));
  }
}
