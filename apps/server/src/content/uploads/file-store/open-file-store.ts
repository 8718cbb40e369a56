import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service/config';
import type { UploadsConfiguration } from '../uploads-configuration.js';
import { openDiskFileStore } from './disk-file-store.js';
import type { FileStore } from './file-store.js';

/**
 * Opens the configured file store. @throws ConfigurationError if no store is configured, or its folder or key is
 * unusable.
 */
export async function openFileStore({ store }: UploadsConfiguration): Promise<FileStore> {
  if (store.kind === 'not-configured') {
    throw new ConfigurationError([
      'SERVER_UPLOADS is not set, and a server on PostgreSQL has no default folder: set it to disk:<folder>, such as disk:/var/lib/waxwing-server/uploads, or to s3:<bucket>.',
    ]);
  }
  if (store.kind === 'disk') return openDiskFileStore(store.folder);
  const secretKey = await readStoreKey(store);
  // Imported lazily: the S3 client is larger than the rest of the server.
  const { openS3FileStore } = await import('./s3-file-store.js');
  return openS3FileStore({ ...store, secretKey });
}

/** Reads the secret key of an S3 store. @throws ConfigurationError if its file is empty, or readable by other users. */
export async function readStoreKey({
  secretKeyFile,
}: {
  readonly secretKeyFile: string;
}): Promise<Secret<string>> {
  const secretKey = (await readPrivateFile(secretKeyFile, 'SERVER_UPLOADS_S3_SECRET_KEY_FILE')).trim();
  if (secretKey === '') {
    throw new ConfigurationError([
      `The file ${secretKeyFile} is empty: write the secret key of SERVER_UPLOADS_S3_ACCESS_KEY_ID to it.`,
    ]);
  }
  return new Secret(secretKey);
}
