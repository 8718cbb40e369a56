import { type FastifyApp, mountInFastify } from '@waxwing/service/http';
import type { ServerPush } from './create-server-push.js';

/**
 * Plugin for a host's Fastify app: `await app.register(serverPush, { push })`. Adds the push routes and changes nothing
 * else. When the app closes, pending requests for events end.
 */
export async function serverPush(app: FastifyApp, { push }: { readonly push: ServerPush }): Promise<void> {
  app.addHook('preClose', async () => push.endPolls());
  mountInFastify(app, push.operations, push.toNodeListener());
}
