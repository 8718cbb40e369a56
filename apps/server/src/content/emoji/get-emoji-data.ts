import { createHash } from 'node:crypto';
import { emojiCodeToNames } from '@waxwing/markdown';
import { anyone, cacheableAnswer, noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { emojiDataPath } from '../../people/realm/emoji-data-path.js';

const dayInSeconds = 24 * 60 * 60;

let data: ReturnType<typeof readData> | undefined;

function readData() {
  const codeToNames = Object.fromEntries(
    Object.entries(emojiCodeToNames()).map(([code, names]) => [code, [...names]]),
  );
  return {
    version: createHash('sha256').update(JSON.stringify(codeToNames)).digest('base64url'),
    fields: { code_to_names: codeToNames },
  };
}

/** `GET /api/v1/emoji_data`: returns each emoji's names, keyed by its code. Cacheable. Requires no authentication. */
export const getEmojiData = operation({
  method: 'GET',
  path: emojiDataPath,
  summary: 'Returns the names of each emoji, by emoji code.',
  actor: anyone,
  parameters: noParameters,
  answer: z.object({ code_to_names: z.record(z.string(), z.array(z.string())) }),
  isCacheable: true,
  codes: [],
  async handle(_context: unknown, { head }) {
    data ??= readData();
    return cacheableAnswer(head, { ...data, maximumAgeSeconds: dayInSeconds });
  },
});
