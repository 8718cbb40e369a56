import { ProtocolError } from '@waxwing/protocol';
import { Secret } from '@waxwing/service/config';
import {
  type ActorKind,
  noAnswer,
  noParameters,
  operation,
  RawAnswer,
  rateLimitHit,
} from '@waxwing/service/http';
import { z } from 'zod';
import { type ServerQuotas, unknownAddress } from '../servers/server-quotas.js';
import { sessionMilliseconds } from './admin-sessions.js';
import { anyVisitor, requireOwnPage, sessionCookie, writingAdministrator } from './administrator.js';
import type { DashboardContext } from './dashboard-context.js';

/** Maximum sign-in attempts per minute and client address. */
export const signInsPerMinuteAndAddress = 10;

const path = '/admin/api/session';
const maximumTokenCharacters = 1000;

interface Visitor {
  readonly address: string;
}

/** Actor kind of the sign-in: a client that sends the dashboard's own page's request. */
const visitor: ActorKind<unknown, Visitor> = {
  name: 'visitor',
  description: 'No credentials are needed, but the request is JSON and comes from the page itself.',
  header: 'origin',
  codes: ['ADMIN_REQUEST_FOREIGN'],
  authenticate(_context, head) {
    requireOwnPage(head);
    return { address: head.address ?? unknownAddress };
  },
};

/**
 * Starts a session: sets its cookie. Limits attempts per client address. All clients behind an undeclared proxy share one
 * limit, so it counts only their wrong tokens: they could lock the operator out otherwise. Compares the token in constant
 * time.
 */
export const signIn = operation({
  method: 'POST',
  path,
  summary: 'Starts a session of the dashboard.',
  actor: visitor,
  body: 'json',
  bodyLimitBytes: 4096,
  parameters: z.object({
    token: z
      .string()
      .max(maximumTokenCharacters)
      .transform((text) => new Secret(text)),
  }),
  answer: noAnswer,
  codes: ['ADMIN_TOKEN_WRONG', 'RATE_LIMIT_HIT'],
  charge({ signInQuotas }: Pick<DashboardContext, 'signInQuotas'>, { address }) {
    if (address !== unknownAddress) chargeSignIn(signInQuotas, address);
  },
  async handle(
    { sessions, signInQuotas, log }: DashboardContext,
    { actor: { address }, parameters: { token }, head },
  ) {
    const id = await sessions.start(token.reveal().trim());
    if (id === undefined) {
      if (address === unknownAddress) chargeSignIn(signInQuotas, address);
      log.warn({ address }, 'a wrong admin token was sent to the dashboard');
      throw new ProtocolError('ADMIN_TOKEN_WRONG');
    }
    log.info({ address }, 'a session of the dashboard began');
    const isSecure = head.header('x-forwarded-proto') === 'https';
    return withCookie(id, sessionMilliseconds / 1000, isSecure);
  },
});

/** Returns when the session expires; `null` without a session, because browsers would log a 401 as an error. */
export const showSession = operation({
  method: 'GET',
  path,
  summary: 'Returns when the session expires.',
  actor: anyVisitor,
  parameters: noParameters,
  answer: z.object({ expires_at: z.number().int().nullable() }),
  codes: [],
  handle: async (_context: DashboardContext, { actor }) => ({ expires_at: actor?.expiresAt ?? null }),
});

/** Ends the session and removes its cookie. */
export const signOut = operation({
  method: 'DELETE',
  path,
  summary: 'Ends the session.',
  actor: writingAdministrator,
  body: 'json',
  parameters: noParameters,
  answer: noAnswer,
  codes: [],
  async handle({ sessions }: DashboardContext, { actor, head }) {
    sessions.end(actor.hash);
    return withCookie(new Secret(''), 0, head.header('x-forwarded-proto') === 'https');
  },
});

function withCookie(id: Secret<string>, maximumAgeSeconds: number, isSecure: boolean): RawAnswer {
  const attributes = `HttpOnly; SameSite=Strict; Path=/admin; Max-Age=${maximumAgeSeconds}`;
  const cookie = `${sessionCookie}=${id.reveal()}; ${attributes}${isSecure ? '; Secure' : ''}`;
  return new RawAnswer(204, { 'set-cookie': cookie, 'cache-control': 'no-store' }, undefined);
}

/** Refuses with 429. The quotas of servers refuse with 503, as stock servers expect. */
function chargeSignIn(quotas: Pick<ServerQuotas, 'take'>, address: string): void {
  try {
    quotas.take(address, 1);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw rateLimitHit('sign-in', error.retryAfterSeconds ?? 1);
  }
}
