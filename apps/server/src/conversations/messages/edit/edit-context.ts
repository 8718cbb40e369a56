import type { ServerContext } from '../../../context.js';

/** The parts of the server context that edits use. */
export type EditContext = Pick<ServerContext, 'clock' | 'database' | 'linkifiers' | 'publish' | 'realm'>;
