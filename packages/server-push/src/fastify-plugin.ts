import { type FastifyApp, mountInFastify } from '@waxwing/service/http';
import type { ServerPush } from './create-server-push.js';

/** Plugin for a host's Fastify app: `await app.register(serverPush, { push })`. Changes nothing but its own routes. */
export async function serverPush(app: FastifyApp, { push }: { readonly push: ServerPush }): Promise<void> {
  mountInFastify(app, push.operations, push.toNodeListener());
}
