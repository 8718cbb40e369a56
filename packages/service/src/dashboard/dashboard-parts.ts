import type { Clock, Closers } from '../lifecycle/index.js';
import type { Log } from '../logging/index.js';
import { AdminSessions } from './admin-sessions.js';
import { AdminToken } from './admin-token.js';
import { EventStreams } from './event-streams.js';
import { loadPageFiles, type PageFiles } from './page-files.js';
import { SignInLimit } from './sign-in-limit.js';

/** The dependencies of the operations that all dashboards share. */
export interface DashboardParts {
  readonly log: Log;
  readonly sessions: AdminSessions;
  readonly signInLimit: Pick<SignInLimit, 'take'>;
  readonly pageFiles: PageFiles;
  readonly streams: Pick<EventStreams, 'open'>;
}

export interface DashboardPartsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** File with the sign-in token. */
  readonly tokenFile: string;
  /** Folder with the built page. */
  readonly pageFolder: string;
  /** Reads the overview for the next server-sent event. */
  read(): Promise<unknown>;
}

/**
 * Opens the parts that all dashboards share. The closers end all sessions.
 * @throws ConfigurationError if the token file is unusable
 */
export async function openDashboardParts(
  { clock, log, tokenFile, pageFolder, read }: DashboardPartsOptions,
  closers: Closers,
): Promise<DashboardParts> {
  const token = await AdminToken.open(tokenFile);
  const sessions = new AdminSessions({ token, clock, log });
  closers.push(async () => sessions.endAll());
  return {
    log,
    sessions,
    signInLimit: new SignInLimit(clock),
    pageFiles: await loadPageFiles(pageFolder),
    streams: new EventStreams({ sessions, log, read }),
  };
}
