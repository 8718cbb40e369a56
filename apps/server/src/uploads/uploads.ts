import type { Secret } from '@waxwing/service/config';
import type { ServerDatabase } from '../tables.js';
import type { FileStore } from './file-store/file-store.js';
import { openFileStore } from './file-store/open-file-store.js';
import { readSigningKey } from './upload-account.js';
import type { UploadsConfiguration } from './uploads-configuration.js';

/** Where the server's uploaded files are, and what goes with them. */
export interface Uploads {
  readonly store: FileStore;
  /** Bytes of all files together; `undefined` for as many as there is room for. */
  readonly quotaBytes: number | undefined;
  /** What addresses that need no login are signed with. */
  readonly signingKey: Secret<Buffer>;
}

/** @throws ConfigurationError where the store cannot be used as it is configured. */
export async function openUploads(
  database: ServerDatabase,
  configuration: UploadsConfiguration,
): Promise<Uploads> {
  const store = await openFileStore(configuration);
  const { quotaBytes } = configuration;
  return { store, quotaBytes, signingKey: await readSigningKey(database) };
}
