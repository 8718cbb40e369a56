import { RawAnswer, type RequestHead } from '@waxwing/service/http';
import type { ByteRange, FileStore } from '../uploads/file-store/file-store.js';
import type { Upload } from '../uploads/upload-store.js';
import { noSuchFile } from './readable-upload.js';

/** What browsers show without running anything of it; everything else they are told to save. */
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
  // Nothing of ours is the file's: no cookies, no storage, no scripts, no other requests.
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-site',
  'referrer-policy': 'no-referrer',
  'accept-ranges': 'bytes',
};

/** How long whoever has the file may keep it: not at all where who may read it can change. */
type Caching = 'private, no-store' | 'private, max-age=604800, immutable';

/**
 * A file as it is sent: the part that a `Range` header asks for, or all of it; 416 for a part that it does not have
 * (RFC 9110 section 14). It is never run as a page of ours, whatever it holds.
 * @throws ProtocolError NOT_FOUND when its bytes are gone.
 */
export async function fileAnswer(
  store: FileStore,
  upload: Upload,
  head: Pick<RequestHead, 'header'>,
  caching: Caching = 'private, no-store',
): Promise<RawAnswer> {
  const { sizeBytes } = upload;
  // There is nothing to tell two versions apart by: a file never changes, but whoever sends If-Range cannot know it.
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

/** `undefined` for the whole file, also where several parts are asked for, which nobody has to answer. */
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
