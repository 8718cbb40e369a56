import { createHash } from 'node:crypto';
import { anybody, cacheableAnswer, noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { emojiCodeToNames } from '../markdown/index.js';
import { emojiDataPath } from './emoji-data-path.js';

const dayInSeconds = 24 * 60 * 60;
const codeToNames = Object.fromEntries(
  Object.entries(emojiCodeToNames()).map(([code, names]) => [code, [...names]]),
);
const version = createHash('sha256').update(JSON.stringify(codeToNames)).digest('base64url');

/** `GET /api/v1/emoji_data`: the names of each emoji by its code; for anybody, cacheable. */
export const getEmojiData = operation({
  method: 'GET',
  path: emojiDataPath,
  summary: 'The names of each emoji by its code.',
  actor: anybody,
  parameters: noParameters,
  answer: z.object({ code_to_names: z.record(z.string(), z.array(z.string())) }),
  isCacheable: true,
  codes: [],
  handle: async (_context: unknown, { head }) =>
    cacheableAnswer(head, {
      version,
      maximumAgeSeconds: dayInSeconds,
      fields: { code_to_names: codeToNames },
    }),
});
