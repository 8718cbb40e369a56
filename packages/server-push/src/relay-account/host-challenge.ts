import { createHash } from 'node:crypto';
import type { DatabaseWithJobs } from '@waxwing/jobs';
import { hostVerificationPath, ProtocolError } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';
import { anyone, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import type { ServerPushTables } from '../tables.js';

/** How long relays accept the secret. */
const lifetimeMilliseconds = 10_000;

/** A relay's secret. This server publishes it at a path with a random token, to prove that it runs at its host. */
export interface HostChallenge {
  readonly accessToken: Secret<string>;
  readonly verificationSecret: Secret<string>;
}

/** Makes every process publish the secret for ten seconds. Replaces an earlier secret. */
export async function showSecret(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'write'>,
  { accessToken, verificationSecret }: HostChallenge,
  now: number,
): Promise<void> {
  const challenge = {
    access_token_hash: hashToken(accessToken.reveal()),
    verification_secret: verificationSecret.reveal(),
    expires_at: now + lifetimeMilliseconds,
  };
  await database.write(async ({ db }) => {
    await db.deleteFrom('host_challenges').execute();
    await db.insertInto('host_challenges').values(challenge).execute();
  });
}

/** Makes every process stop publishing the secret. */
export async function hideSecret(database: Pick<DatabaseWithJobs<ServerPushTables>, 'write'>): Promise<void> {
  await database.write(({ db }) => db.deleteFrom('host_challenges').execute());
}

/**
 * `GET /api/v1/zulip-services/verify/{access_token}/` (docs/protocol.md#remotesserverregistertransfer): for ten
 * seconds, shows the relay the secret of a transfer started by `push enable --transfer`.
 *
 * Refuses with REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED if there is no secret, the token is wrong, or ten seconds
 * have passed.
 */
export const showHostChallenge = operation({
  method: 'GET',
  path: `${hostVerificationPath}/{access_token}/`,
  summary: 'Returns the secret that proves to a relay that this server runs at its host.',
  actor: anyone,
  parameters: z.object({ access_token: z.string().max(128) }),
  answer: z.object({ verification_secret: z.string() }),
  codes: ['REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED'],
  async handle({ clock, database }: Pick<ServerPushContext, 'clock' | 'database'>, { parameters }) {
    const challenge = await database.db
      .selectFrom('host_challenges')
      .select('verification_secret')
      .where('access_token_hash', '=', hashToken(parameters.access_token))
      .where('expires_at', '>', clock())
      .executeTakeFirst();
    if (challenge === undefined) throw new ProtocolError('REMOTE_SERVER_VERIFICATION_SECRET_NOT_PREPARED');
    return { verification_secret: challenge.verification_secret };
  },
});

/** Hashes the token before the lookup, so that timing does not reveal how much of a guessed token is correct. */
function hashToken(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest('base64url');
}
