import type { Fetch } from '@waxwing/client';

/** Feature level at which phones register in the older generation. */
export const olderLevel = 431;

/**
 * Returns a `fetch` for phones that replaces the feature level in the server's responses unless `level` returns
 * `undefined`.
 */
export function announcing(level: () => number | undefined, inner: Fetch = fetch): Fetch {
  return async (url, init) => {
    const answer = await inner(url, init);
    const announced = level();
    if (announced === undefined) return answer;
    const text = (await answer.text()).replace(
      /"zulip_feature_level":\d+/,
      `"zulip_feature_level":${announced}`,
    );
    return new Response(text, { status: answer.status, headers: answer.headers });
  };
}
