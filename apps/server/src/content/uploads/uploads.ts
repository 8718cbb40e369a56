import type { Secret } from '@waxwing/service/config';
import type { ServerDatabase } from '../../tables.js';
import type { FileStore } from './file-store/file-store.js';
import { openFileStore } from './file-store/open-file-store.js';
import { readSigningKey } from './upload-account.js';
import type { UploadsConfiguration } from './uploads-configuration.js';

/** The file store of the server, with its quota and signing key. */
export interface Uploads {
  readonly store: FileStore;
  /** Maximum total bytes of files. `undefined` for no limit. */
  readonly quotaBytes: number | undefined;
  /** The key that signs temporary download URLs. */
  readonly signingKey: Secret<Buffer>;
}

/**
 * Opens the configured file store and reads the signing key. @throws ConfigurationError if the store cannot be used.
 */
export async function openUploads(
  database: ServerDatabase,
  configuration: UploadsConfiguration,
): Promise<Uploads> {
  const store = await openFileStore(configuration);
  const { quotaBytes } = configuration;
  return { store, quotaBytes, signingKey: await readSigningKey(database) };
}
