import { RawAnswer, type RequestHead } from '@waxwing/service/http';
import type { ByteRange, FileStore } from './file-store/file-store.js';
import { noSuchFile } from './no-such-file.js';
import type { Upload } from './upload-store.js';

/** Types that browsers display without executing them. Files of other types are sent as downloads. */
const shownTypes = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'video/mp4',
  'video/ogg',
  'video/webm',
  'text/plain',
]);
const neverRun = {
  'x-content-type-options': 'nosniff',
  // Isolates the file from this origin: no cookies, storage, scripts or requests.
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'accept-ranges': 'bytes',
};

/** Value of the `Cache-Control` header. `no-store` is for files that some clients may lose access to. */
type Caching = 'private, no-store' | 'private, max-age=604800, immutable';

/**
 * Builds the response with a file, or with the range that a `Range` header requests. The status is 416 if the range is
 * unsatisfiable (RFC 9110 section 14). The headers prevent browsers from running the file as a page of this origin.
 * @throws ProtocolError NOT_FOUND if the store no longer has the file.
 */
export async function fileAnswer(
  store: FileStore,
  upload: Upload,
  head: Pick<RequestHead, 'header'>,
  caching: Caching = 'private, no-store',
): Promise<RawAnswer> {
  const { sizeBytes } = upload;
  // Files have no validator such as an ETag, so `If-Range` cannot match. Send the whole file.
  const asked = head.header('if-range') === undefined ? head.header('range') : undefined;
  const range = readRange(asked, sizeBytes);
  if (range === 'unsatisfiable') {
    return new RawAnswer(
      416,
      { ...neverRun, 'cache-control': 'no-store', 'content-range': `bytes */${sizeBytes}` },
      undefined,
    );
  }
  const content = await store.read(upload.pathId, range);
  if (content === undefined) throw noSuchFile();
  const headers = { ...neverRun, 'cache-control': caching, ...describeContent(upload) };
  if (range === undefined) {
    return new RawAnswer(200, { ...headers, 'content-length': String(sizeBytes) }, content);
  }
  const { start, end } = range;
  const part = {
    'content-range': `bytes ${start}-${end}/${sizeBytes}`,
    'content-length': String(end - start + 1),
  };
  return new RawAnswer(206, { ...headers, ...part }, content);
}

function describeContent({ contentType, fileName }: Upload): Record<string, string> {
  const isShown = shownTypes.has(contentType);
  const charset = contentType === 'text/plain' ? '; charset=utf-8' : '';
  const type = isShown ? contentType + charset : 'application/octet-stream';
  const plainName = fileName.replace(/[^\x20-\x7e]|["\\%;]/g, '_');
  const name = encodeURIComponent(fileName).replace(/['()*]/g, (character) => escaped(character));
  const disposition = isShown ? 'inline' : 'attachment';
  return {
    'content-type': type,
    'content-disposition': `${disposition}; filename="${plainName}"; filename*=UTF-8''${name}`,
  };
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Parses a `Range` header. Returns `undefined` if the response must be the complete file: the header is missing, is
 * invalid, or requests several ranges, which a server may ignore.
 */
function readRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
