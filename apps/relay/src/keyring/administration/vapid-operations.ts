import { CommandError } from '@waxwing/service/command-line';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { operator } from '../../admin-socket/operator.js';
import type { KeyRing } from '../ring/key-ring.js';
import { changeAnswer, changeRing, dryRunParameter, type KeyAdmin } from './key-admin.js';

/** Returns the public VAPID keys that apps subscribe with. */
export const listVapidKeys = operation({
  method: 'GET',
  path: '/admin/api/keys/vapid',
  summary: 'Returns the public VAPID keys that Web Push apps subscribe with.',
  actor: operator,
  parameters: noParameters,
  answer: z.object({
    keys: z.array(
      z.object({
        app: z.string(),
        /** 65 bytes in base64url. */
        public_key: z.string(),
        created_at: z.string(),
      }),
    ),
  }),
  codes: ['BAD_REQUEST'],
  handle: (admin: KeyAdmin) =>
    admin.keeper.look(({ vapidKeys }) => ({
      keys: vapidKeys.map(({ name, publicKey, createdAt }) => ({
        app: name,
        public_key: publicKey,
        created_at: new Date(createdAt).toISOString(),
      })),
    })),
});

/** Destroys the VAPID key pair of an app. Subscriptions that are bound to the pair stop working. */
export const removeVapidKey = operation({
  method: 'POST',
  path: '/admin/api/keys/remove-vapid',
  summary:
    'Destroys the VAPID key pair of a Web Push app, which ends the subscriptions that are bound to it.',
  actor: operator,
  parameters: z.object({ app: z.string(), dry_run: dryRunParameter }),
  answer: changeAnswer,
  codes: ['BAD_REQUEST'],
  async handle(admin: KeyAdmin, { actor, parameters: { app, dry_run: dryRun } }) {
    const transition = (ring: KeyRing): KeyRing => {
      const vapidKeys = ring.vapidKeys.filter(({ name }) => name !== app);
      if (vapidKeys.length < ring.vapidKeys.length) return { ...ring, vapidKeys };
      throw new CommandError(`The key ring has no VAPID key for "${app}": "apps vapid" lists its keys.`);
    };
    return changeRing(admin, { actor, action: 'remove-vapid', dryRun, transition });
  },
});
