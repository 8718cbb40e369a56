import { ProtocolError } from '@waxwing/protocol';
import type { FastifyRequest } from 'fastify';
import type { CollectedParameters } from '../bodies/collected-parameters.js';
import { addUrlEncoded } from '../bodies/percent-encoding.js';
import { parseJsonBody, type ReceivedBody } from '../bodies/received-body.js';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import type { Exchange } from '../exchange.js';
import type { RequestScheduler } from '../overload/request-scheduler.js';
import type { ShutdownSignals } from '../shutdown-signals.js';
import { type BasicCredentials, parseBasicCredentials } from './basic-credentials.js';
import type { RequestHead } from './operation.js';
import { type ParameterReader, parseJsonParameters } from './request-parameters.js';
import type { ServedOperation } from './served-operation.js';

/** What every request of an app uses. */
interface SharedParts {
  readonly shutdownSignals: ShutdownSignals;
  readonly scheduler: RequestScheduler;
  addressOf(exchange: Exchange): string | undefined;
}

/** An operation's view of a Fastify request. */
export class FastifyOperationRequest implements RequestHead {
  actor: string | undefined;
  readonly exchange: Exchange;
  readonly #request: FastifyRequest;
  readonly #shared: SharedParts;
  #body: ReceivedBody = { kind: 'none' };
  #raw: CollectedParameters | undefined;
  #query: CollectedParameters | undefined;

  constructor(request: FastifyRequest, exchange: Exchange, shared: SharedParts) {
    this.#request = request;
    this.exchange = exchange;
    this.#shared = shared;
  }

  set body(body: ReceivedBody) {
    this.#body = body;
  }

  get id(): string {
    return this.#request.id;
  }

  get address(): string | undefined {
    return this.#shared.addressOf(this.exchange);
  }

  basicCredentials(): BasicCredentials {
    return parseBasicCredentials(this.#request.headers.authorization);
  }

  /**
   * The operation's declared parameters, from path, query string and body.
   * @throws ProtocolError REQUEST_VARIABLE_MISSING, REQUEST_CONFUSING_VAR or BAD_REQUEST for the first invalid parameter;
   * UNSUPPORTED_MEDIA_TYPE.
   */
  parameters({ declared, reader }: ServedOperation): unknown {
    if (this.#body.kind === 'refused') throw this.#body.error;
    if (declared.body === 'json') return parseJsonParameters(declared.parameters, this.#json());
    if (this.#body.kind === 'json') {
      throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
        message: 'Send the parameters as a form (application/x-www-form-urlencoded), not as JSON',
      });
    }
    const path = this.#request.params as Record<string, string>;
    return reader.read({ path, raw: this.#rawParameters() });
  }

  get file(): UploadedFile | undefined {
    return this.#body.kind === 'form' ? this.#body.file : undefined;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  queryParameter(name: string): string | undefined {
    if (this.#query === undefined) {
      this.#query = new Map();
      addUrlEncoded(this.#query, this.#queryText);
    }
    const value = this.#query.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  setActor(actor: string): void {
    this.actor = actor;
  }

  get signal(): AbortSignal {
    return this.#shared.shutdownSignals.signalOf(this.exchange);
  }

  get scheduler(): RequestScheduler {
    return this.#shared.scheduler;
  }

  /** Names of parameters that the operation does not declare; empty for JSON bodies. */
  ignoredParameters(reader: ParameterReader): string[] {
    return this.#body.kind === 'json' ? [] : reader.ignored(this.#rawParameters());
  }

  /** Fastify is set up to leave it unparsed. */
  get #queryText(): string {
    return this.#request.query as string;
  }

  #json() {
    if (this.#body.kind === 'json') return parseJsonBody(this.#body.text);
    throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Send the request body as JSON (application/json)',
    });
  }

  #rawParameters(): CollectedParameters {
    if (this.#raw === undefined) {
      // Extends the form's own map: no other code reads it.
      this.#raw = this.#body.kind === 'form' ? this.#body.entries : new Map();
      addUrlEncoded(this.#raw, this.#queryText);
    }
    return this.#raw;
  }
}
