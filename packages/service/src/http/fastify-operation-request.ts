import { type JsonValue, ProtocolError } from '@waxwing/protocol';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { type BasicCredentials, parseBasicCredentials } from './basic-credentials.js';
import type { Exchange } from './exchange.js';
import type { OperationRequest } from './operation.js';
import { parseJsonBody, type ReceivedBody } from './received-body.js';
import { collectParameters, parseParameters, unsupportedParameters } from './request-parameters.js';

/** {@link OperationRequest} on Fastify. */
export class FastifyOperationRequest implements OperationRequest {
  actor: string | undefined;
  readonly exchange: Exchange;
  readonly #request: FastifyRequest;
  readonly #closing: AbortSignal;
  #body: ReceivedBody = { kind: 'none' };
  #raw: Map<string, string[]> | undefined;
  #schema: z.ZodObject | undefined;
  #signal: AbortSignal | undefined;

  constructor(request: FastifyRequest, exchange: Exchange, closing: AbortSignal) {
    this.#request = request;
    this.exchange = exchange;
    this.#closing = closing;
  }

  /** What came after the head. */
  set body(body: ReceivedBody) {
    this.#body = body;
  }

  get id(): string {
    return this.#request.id;
  }

  basicCredentials(): BasicCredentials {
    return parseBasicCredentials(this.#request.headers.authorization);
  }

  parameters<S extends z.ZodObject>(schema: S): z.infer<S> {
    if (this.#body.kind === 'refused') throw this.#body.error;
    if (this.#body.kind === 'json') {
      throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
        message: 'Send the parameters as a form (application/x-www-form-urlencoded), not as JSON',
      });
    }
    this.#schema = schema;
    return parseParameters(schema, this.#rawParameters());
  }

  jsonBody(): JsonValue {
    if (this.#body.kind === 'refused') throw this.#body.error;
    if (this.#body.kind !== 'json') {
      throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
        message: 'Send the request body as JSON (application/json)',
      });
    }
    return parseJsonBody(this.#body.text);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  queryParameter(name: string): string | undefined {
    const value = (this.#request.query as Record<string, string | string[]>)[name];
    return typeof value === 'string' ? value : undefined;
  }

  setActor(actor: string): void {
    this.actor = actor;
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#closing, this.exchange.signal]);
    return this.#signal;
  }

  /** Names of parameters that came and that the operation does not know; none for JSON operations. */
  ignoredParameters(): string[] {
    return this.#body.kind === 'json' ? [] : unsupportedParameters(this.#schema, this.#rawParameters());
  }

  #rawParameters(): Map<string, string[]> {
    if (this.#raw === undefined) {
      this.#raw = new Map();
      const query = this.#request.query as Record<string, string | string[]>;
      if (this.#body.kind === 'form') collectParameters(this.#raw, this.#body.entries);
      collectParameters(this.#raw, Object.entries(query));
    }
    return this.#raw;
  }
}
