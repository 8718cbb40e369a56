import type { Fetch } from '@waxwing/client';

/** The last feature level at which phones register in the older generation. */
export const olderLevel = 431;

/** A phone's `fetch` whose servers announce another feature level; `undefined` keeps their own. */
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
