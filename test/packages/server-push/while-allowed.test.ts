import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { whileAllowed } from '#server-push/relay-link/while-allowed.js';

/** Returns work that rejects with the signal's reason when the signal is aborted. */
function work(allowed: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    allowed.addEventListener('abort', () => reject(allowed.reason));
    if (allowed.aborted) reject(allowed.reason);
  });
}

describe('work with a time limit', () => {
  it('ends with its result, and leaves at most one abort listener for any number of calls', async () => {
    const ending = new AbortController();
    const all = Array.from({ length: 20 }, (_, place) =>
      whileAllowed(ending.signal, 60_000, async (allowed) => [place, allowed.aborted]),
    );
    expect(await Promise.all(all)).toEqual(all.map((_work, place) => [place, false]));
    const failure = new Error('it failed');
    await expect(whileAllowed(ending.signal, 60_000, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
  });

  it('is ended by its timeout, or by its caller’s signal even if it was aborted before', async () => {
    await expect(whileAllowed(undefined, 1, work)).rejects.toMatchObject({ name: 'TimeoutError' });
    const ending = new AbortController();
    const reason = new Error('closing');
    const ended = whileAllowed(ending.signal, 60_000, work);
    ending.abort(reason);
    await expect(ended).rejects.toBe(reason);
    await expect(whileAllowed(ending.signal, 60_000, work)).rejects.toBe(reason);
  });
});
