import type { ServerContext } from '../../context.js';

/** What edits work with. */
export type EditContext = Pick<ServerContext, 'clock' | 'database' | 'linkifiers' | 'publish' | 'realm'>;
