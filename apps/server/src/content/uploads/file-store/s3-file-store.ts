import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import type { Secret } from '@waxwing/service/config';
import type { FileStore } from './file-store.js';

export interface S3Account {
  readonly bucket: string;
  readonly region: string;
  /** `undefined` for Amazon S3. */
  readonly endpoint: string | undefined;
  readonly accessKeyId: string;
  readonly secretKey: Secret<string>;
}

// Part size of a multipart upload. One part is in memory at a time. S3 requires parts of at least 5 MiB.
const pieceBytes = 5 * 1024 * 1024;

/** Opens a store in a bucket of an S3-compatible service. */
export function openS3FileStore({ bucket, region, endpoint, accessKeyId, secretKey }: S3Account): FileStore {
  const client = new S3Client({
    region,
    credentials: { accessKeyId, secretAccessKey: secretKey.reveal() },
    // Services other than Amazon S3 use one host for all buckets. Some of them do not support the newer checksums.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return {
    async write(pathId, content, contentType) {
      const params = { Bucket: bucket, Key: pathId, Body: content, ContentType: contentType };
      const upload = new Upload({ client, params, partSize: pieceBytes, queueSize: 1 });
      try {
        await upload.done();
      } catch (error) {
        content.destroy();
        throw error;
      }
    },
    async read(pathId, range) {
      const part = range && { Range: `bytes=${range.start}-${range.end}` };
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: pathId, ...part }));
        return Body as Readable | undefined;
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    async remove(pathId) {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: pathId }));
    },
  };
}
