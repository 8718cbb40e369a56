import { ProtocolError } from '@waxwing/protocol';
import type { ActorKind, RequestHead } from '../http/index.js';
import type { AdminSession, AdminSessions } from './admin-sessions.js';

export const sessionCookie = 'waxwing_admin';

interface Context {
  readonly sessions: AdminSessions;
}

const description =
  'The session cookie of the dashboard, which is set by signing in with the admin token. A request that changes something must be JSON and come from the page itself.';

/** Actor kind for read-only operations: a signed-in operator. */
export const administrator: ActorKind<Context, AdminSession> = {
  name: 'administrator',
  description,
  header: 'cookie',
  codes: ['ADMIN_SESSION_REQUIRED'],
  authenticate: requireSession,
};

/** Actor kind for operations that anyone may call, signed in or not. */
export const anyVisitor: ActorKind<Context, AdminSession | undefined> = {
  name: 'administrator',
  description,
  header: 'cookie',
  isOptional: true,
  codes: [],
  authenticate: findSession,
};

/** Actor kind for operations that change something: a signed-in operator who uses the dashboard page. */
export const writingAdministrator: ActorKind<Context, AdminSession> = {
  name: 'administrator',
  description,
  header: 'cookie',
  codes: ['ADMIN_SESSION_REQUIRED', 'ADMIN_REQUEST_FOREIGN'],
  authenticate(context, head) {
    requireOwnPage(head);
    return requireSession(context, head);
  },
};

/**
 * Refuses a request that could have been sent by a page on another site (CSRF). @throws ProtocolError
 * ADMIN_REQUEST_FOREIGN.
 */
export function requireOwnPage(head: RequestHead): void {
  const [type = ''] = (head.header('content-type') ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json' || !isFromOwnPage(head)) {
    throw new ProtocolError('ADMIN_REQUEST_FOREIGN');
  }
}

/**
 * Whether the request comes from the dashboard page. Browsers send `Sec-Fetch-Site` over TLS and to localhost, and send
 * `Origin` with every request that is not a GET.
 */
function isFromOwnPage(head: RequestHead): boolean {
  const site = head.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = head.header('origin') ?? '';
  return URL.canParse(origin) && new URL(origin).host === head.header('host')?.toLowerCase();
}

async function requireSession(context: Context, head: RequestHead): Promise<AdminSession> {
  const session = await findSession(context, head);
  if (session === undefined) throw new ProtocolError('ADMIN_SESSION_REQUIRED');
  return session;
}

async function findSession({ sessions }: Context, head: RequestHead): Promise<AdminSession | undefined> {
  const id = cookieOf(head.header('cookie') ?? '');
  const session = id === undefined ? undefined : await sessions.find(id);
  if (session !== undefined) head.setActor('dashboard');
  return session;
}

/** Finds the session id among the cookies. Returns `undefined` if it is absent or malformed. */
function cookieOf(header: string): string | undefined {
  return new RegExp(`(?:^|;\\s*)${sessionCookie}=([0-9a-f]{64})(?:;|$)`).exec(header)?.[1];
}
