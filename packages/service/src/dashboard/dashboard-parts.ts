import type { Clock, Closers } from '../lifecycle/index.js';
import type { Log } from '../logging/index.js';
import { AdminSessions } from './admin-sessions.js';
import { AdminToken } from './admin-token.js';
import { EventStreams } from './event-streams.js';
import { loadPageFiles, type PageFiles } from './page-files.js';
import { SignInLimit } from './sign-in-limit.js';

/** Dependencies of the operations that every dashboard has. */
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
  /** File with the token that signs in. */
  readonly tokenFile: string;
  /** Folder of the built page. */
  readonly pageFolder: string;
  /** Reads the overview: the data of the next event. */
  read(): Promise<unknown>;
}

/**
 * Opens what every dashboard has. Sessions end when the closers run.
 * @throws ConfigurationError if the token file is unusable.
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
