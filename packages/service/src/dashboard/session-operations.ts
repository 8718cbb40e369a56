import { ProtocolError } from '@waxwing/protocol';
import { z } from 'zod';
import { Secret } from '../config/index.js';
import {
  type ActorKind,
  noAnswer,
  noParameters,
  operation,
  RawAnswer,
  type RequestHead,
} from '../http/index.js';
import { sessionMilliseconds } from './admin-sessions.js';
import { anyVisitor, requireOwnPage, sessionCookie, writingAdministrator } from './administrator.js';
import type { DashboardParts } from './dashboard-parts.js';

const path = '/admin/api/session';
const maximumTokenCharacters = 1000;

interface Visitor {
  /** Client address; `undefined` behind a proxy that is not configured as trusted. */
  readonly address: string | undefined;
}

/** Rate limit key of requests without a known client address. */
const unknownAddress = 'unknown';

/** Actor kind for the sign-in operation: a client whose request comes from the dashboard page. */
const visitor: ActorKind<unknown, Visitor> = {
  name: 'visitor',
  description: 'No credentials are needed, but the request must be JSON and come from the page itself.',
  header: 'origin',
  codes: ['ADMIN_REQUEST_FOREIGN'],
  authenticate(_context, head) {
    requireOwnPage(head);
    return { address: head.address };
  },
};

/**
 * Starts a session and sets its cookie. Compares the token in constant time. Limits attempts per client address. All
 * clients behind a proxy that is not configured as trusted share one limit. The shared limit counts only wrong tokens;
 * otherwise, those clients could lock out the operator.
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
  charge({ signInLimit }: Pick<DashboardParts, 'signInLimit'>, { address }) {
    if (address !== undefined) signInLimit.take(address);
  },
  async handle(
    { sessions, signInLimit, log }: DashboardParts,
    { actor: { address }, parameters: { token }, head },
  ) {
    const id = await sessions.start(token.reveal().trim());
    if (id === undefined) {
      if (address === undefined) signInLimit.take(unknownAddress);
      log.warn({ address: head.nearestAddress }, 'a wrong admin token was sent to the dashboard');
      throw new ProtocolError('ADMIN_TOKEN_WRONG');
    }
    log.info({ address: head.nearestAddress }, 'a session of the dashboard began');
    return withCookie(id, sessionMilliseconds / 1000, arrivedOverTls(head));
  },
});

/**
 * Returns when the session expires, or `null` if there is no session. Does not return 401, which browsers would log as
 * an error.
 */
export const showSession = operation({
  method: 'GET',
  path,
  summary: 'Returns when the session expires.',
  actor: anyVisitor,
  parameters: noParameters,
  answer: z.object({ expires_at: z.number().int().nullable() }),
  codes: [],
  handle: async (_context: DashboardParts, { actor }) => ({ expires_at: actor?.expiresAt ?? null }),
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
  async handle({ sessions }: DashboardParts, { actor, head }) {
    sessions.end(actor.hash);
    return withCookie(new Secret(''), 0, arrivedOverTls(head));
  },
});

/**
 * Whether the browser's connection uses TLS, according to the first proxy. The header is trusted from any peer, because
 * a forged header affects only the sender's own cookie. If it were trusted only from configured proxies, the cookie
 * would lose its protection behind any other proxy.
 */
function arrivedOverTls(head: RequestHead): boolean {
  const [first = ''] = head.header('x-forwarded-proto')?.split(',') ?? [];
  return first.trim().toLowerCase() === 'https';
}

function withCookie(id: Secret<string>, maximumAgeSeconds: number, isSecure: boolean): RawAnswer {
  const attributes = `HttpOnly; SameSite=Strict; Path=/admin; Max-Age=${maximumAgeSeconds}`;
  const cookie = `${sessionCookie}=${id.reveal()}; ${attributes}${isSecure ? '; Secure' : ''}`;
  return new RawAnswer(204, { 'set-cookie': cookie, 'cache-control': 'no-store' }, undefined);
}
