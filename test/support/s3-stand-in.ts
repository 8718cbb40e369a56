import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The part of Amazon S3 that the file store needs, as an HTTP server on loopback. */
export class S3StandIn {
  /** Stored objects by key. */
  readonly objects = new Map<string, { readonly content: Buffer; readonly type: string }>();
  /** Parts received so far, by upload id. */
  readonly unfinished = new Map<string, Map<number, Buffer>>();
  /** Received `Authorization` headers. */
  readonly authorizations = new Set<string>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #types = new Map<string, string>();
  #uploads = 0;

  static async start(): Promise<S3StandIn> {
    const standIn = new S3StandIn();
    await new Promise<void>((resolve) => standIn.#server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    // The first path segment is the bucket.
    const key = decodeURIComponent(pathname).split('/').slice(2).join('/');
    this.authorizations.add(request.headers.authorization ?? '');
    const content = await buffer(request).catch(() => undefined);
    // The client disconnected before sending the whole body.
    if (content === undefined) return;
    const uploadId = searchParams.get('uploadId') ?? '';
    const type = request.headers['content-type'] ?? '';
    if (request.method === 'GET') this.#get(key, request.headers.range, response);
    else if (request.method === 'POST' && searchParams.has('uploads')) this.#begin(type, response);
    else if (request.method === 'POST') this.#complete(key, uploadId, response);
    else if (request.method === 'PUT' && uploadId !== '') {
      this.unfinished.get(uploadId)?.set(Number(searchParams.get('partNumber')), content);
      response.writeHead(200, { etag: `"${content.length}"` }).end();
    } else if (request.method === 'PUT') {
      this.objects.set(key, { content, type });
      response.writeHead(200, { etag: `"${content.length}"` }).end();
    } else if (request.method === 'DELETE') {
      if (uploadId === '') this.objects.delete(key);
      else this.unfinished.delete(uploadId);
      response.writeHead(204).end();
    } else response.writeHead(405).end();
  }

  #get(key: string, range: string | undefined, response: ServerResponse): void {
    const object = this.objects.get(key);
    if (object === undefined) {
      sendXml(response, 404, '<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>');
      return;
    }
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
    const part =
      start === undefined ? object.content : object.content.subarray(Number(start), Number(end) + 1);
    response.writeHead(start === undefined ? 200 : 206, { 'content-type': object.type }).end(part);
  }

  #begin(type: string, response: ServerResponse): void {
    const id = `upload-${++this.#uploads}`;
    this.unfinished.set(id, new Map());
    this.#types.set(id, type);
    const answer = `<UploadId>${id}</UploadId>`;
    sendXml(response, 200, `<InitiateMultipartUploadResult>${answer}</InitiateMultipartUploadResult>`);
  }

  #complete(key: string, uploadId: string, response: ServerResponse): void {
    const pieces = [...(this.unfinished.get(uploadId) ?? [])].sort(([a], [b]) => a - b);
    this.unfinished.delete(uploadId);
    const content = Buffer.concat(pieces.map(([, piece]) => piece));
    this.objects.set(key, { content, type: this.#types.get(uploadId) ?? '' });
    sendXml(response, 200, '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
  }
}

function sendXml(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`);
}
