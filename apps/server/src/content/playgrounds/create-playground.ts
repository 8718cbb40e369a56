import { operation } from '@waxwing/service/http';
import { lockExclusive } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { administrator } from '../../platform/authentication/authenticate.js';
import { planPlayground, playgroundTaken } from './plan-playground.js';
import { insertPlayground } from './playground-store.js';
import { playgroundsLock, publishPlaygrounds } from './publish-playgrounds.js';

/**
 * `POST /api/v1/realm/playgrounds` (docs/chat-api.md#9-add-a-code-playground): adds a playground, a web page that runs
 * code in one language. `highlighter_language` may be any alias of the language. The server stores the display name
 * that appears in the HTML of code blocks. Notifies all users. Errors: UNAUTHORIZED_PRINCIPAL for actors who are not
 * administrators; BAD_REQUEST with `errors` for:
 *
 * - a name that is blank, too long, or already used for the language
 * - a language name with characters that {@link planPlayground} does not accept
 * - a template that is not valid RFC 6570, has variables other than `code`, or does not lead to a single http or https
 *   host
 */
export const createPlayground = operation({
  method: 'POST',
  path: '/api/v1/realm/playgrounds',
  summary: 'Creates a playground for code in one language.',
  actor: administrator,
  parameters: z.object({ name: z.string(), highlighter_language: z.string(), url_template: z.string() }),
  since: { url_template: 196 },
  aliases: { pygments_language: 'highlighter_language' },
  answer: z.object({ id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle({ publish }: ServerContext, { actor, parameters }) {
    const { name, highlighter_language: language, url_template: urlTemplate } = parameters;
    return actor.change(async (transaction) => {
      const playground = planPlayground({ name, language, urlTemplate });
      await lockExclusive(transaction.db, playgroundsLock);
      const id = await insertPlayground(transaction.db, playground);
      if (id === undefined) throw playgroundTaken();
      await publishPlaygrounds(publish, transaction);
      return { id };
    });
  },
});
