import { dirname, join } from 'node:path';
import type { EnvironmentReader } from '@waxwing/service/config';
import { mebibyte } from '../../people/realm/realm-limits.js';

/** Where uploaded files are stored. */
type FileStoreSettings =
  | { readonly kind: 'disk'; readonly folder: string }
  /** No store is configured. Commands work without a store, but the server refuses to start. */
  | { readonly kind: 'not-configured' }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      readonly region: string;
      /** `undefined` for Amazon S3. */
      readonly endpoint: string | undefined;
      readonly accessKeyId: string;
      /** Path of a file that only its owner may be able to read. */
      readonly secretKeyFile: string;
    };

export interface UploadsConfiguration {
  readonly store: FileStoreSettings;
  /** Maximum total bytes of files. `undefined` for no limit. */
  readonly quotaBytes: number | undefined;
}

const quotaRangeMib = { minimum: 0, maximum: 1024 ** 3 };
const s3Names = ['S3_ENDPOINT', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_KEY_FILE'] as const;

/** Reads `SERVER_UPLOADS` and the related variables. The default is a folder next to the SQLite database file. */
export function readUploads(reader: EnvironmentReader, databaseUrl: string): UploadsConfiguration {
  const place = reader.optional('UPLOADS') ?? defaultLocation(databaseUrl);
  const quotaMib = reader.integer('UPLOADS_QUOTA_MIB', 0, quotaRangeMib);
  const store = readStore(reader, place);
  return { store, quotaBytes: quotaMib === 0 ? undefined : quotaMib * mebibyte };
}

function defaultLocation(databaseUrl: string): string | undefined {
  const file = /^sqlite:(.+)$/s.exec(databaseUrl)?.[1];
  return file === undefined ? undefined : `disk:${join(dirname(file), 'uploads')}`;
}

function readStore(reader: EnvironmentReader, place: string | undefined): FileStoreSettings {
  const endpoint = reader.optionalUrl('UPLOADS_S3_ENDPOINT');
  const region = reader.optional('UPLOADS_S3_REGION');
  const accessKeyId = reader.optional('UPLOADS_S3_ACCESS_KEY_ID');
  const secretKeyFile = reader.optional('UPLOADS_S3_SECRET_KEY_FILE');
  const [, kind, name = ''] = /^(disk|s3):(.+)$/s.exec(place ?? '') ?? [];
  if (kind === undefined && place !== undefined) {
    reader.problem(`SERVER_UPLOADS is "${place}": it must be disk:<folder> or s3:<bucket>.`);
  }
  if (kind !== 's3') {
    for (const s3Name of s3Names) {
      if (reader.optional(`UPLOADS_${s3Name}`) === undefined) continue;
      reader.problem(
        `SERVER_UPLOADS_${s3Name} is set, but SERVER_UPLOADS names no bucket: set it to s3:<bucket>.`,
      );
    }
    return place === undefined ? { kind: 'not-configured' } : { kind: 'disk', folder: name };
  }
  if (accessKeyId === undefined || secretKeyFile === undefined) {
    reader.problem(
      'SERVER_UPLOADS names a bucket: set SERVER_UPLOADS_S3_ACCESS_KEY_ID and SERVER_UPLOADS_S3_SECRET_KEY_FILE as well.',
    );
  }
  return {
    kind,
    bucket: name,
    region: region ?? 'us-east-1',
    endpoint,
    accessKeyId: accessKeyId ?? '',
    secretKeyFile: secretKeyFile ?? '',
  };
}
