import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { renderContents } from './render-content.js';
import { readNewContent } from './send/message-text.js';

/**
 * `POST /api/v1/messages/render` (docs/chat-api.md#common-conventions): renders a text to HTML as if the user sent it
 * as a message.
 */
export const renderMessage = operation({
  method: 'POST',
  path: '/api/v1/messages/render',
  summary: 'Renders a text to HTML as if it were a message.',
  actor: user,
  parameters: z.object({ content: z.string() }),
  bodyLimitBytes: 512 * 1024,
  answer: z.object({ rendered: z.string() }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, request) {
    const content = readNewContent(request.parameters.content);
    const rendering = { ...context, nextTick: () => request.nextTick() };
    const [rendered] = await renderContents(context.database.db, rendering, request.actor, [content]);
    return { rendered: rendered?.html ?? '' };
  },
});
