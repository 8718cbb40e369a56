import { ProtocolError } from '@waxwing/protocol';
import type { CollectedParameters } from '../bodies/collected-parameters.js';
import { parseJsonBody, type ReceivedBody } from '../bodies/parse-body.js';
import { addUrlEncoded } from '../bodies/percent-encoding.js';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import { type BasicCredentials, parseBasicCredentials } from './basic-credentials.js';
import type { RequestHead } from './operation.js';
import { type ParameterReader, parseJsonParameters } from './request-parameters.js';
import type { ServedOperation } from './served-operation.js';

/**
 * An operation's view of a request, independent of the HTTP server. Reads parameters from path, query string and body.
 */
export abstract class ReceivedRequest implements RequestHead {
  actor: string | undefined;
  abstract readonly id: string;
  abstract readonly address: string | undefined;
  abstract readonly nearestAddress: string | undefined;
  /** The decoded parameters of the path. */
  protected abstract readonly pathParameters: Readonly<Record<string, string>>;
  /** The raw query string, with one character per byte. */
  protected abstract readonly queryText: string;
  #body: ReceivedBody = { kind: 'none' };
  #raw: CollectedParameters | undefined;
  #query: CollectedParameters | undefined;

  abstract header(name: string): string | undefined;

  set body(body: ReceivedBody) {
    this.#body = body;
  }

  basicCredentials(): BasicCredentials {
    return parseBasicCredentials(this.header('authorization'));
  }

  /**
   * Reads the operation's declared parameters from the path, query string and body.
   * @throws ProtocolError REQUEST_VARIABLE_MISSING, REQUEST_CONFUSING_VAR or BAD_REQUEST for the first invalid
   * parameter; UNSUPPORTED_MEDIA_TYPE if the body is of the wrong kind
   */
  parameters({ declared, reader }: ServedOperation): unknown {
    if (this.#body.kind === 'refused') throw this.#body.error;
    if (declared.body === 'json') {
      return parseJsonParameters(declared.parameters, this.#json(), this.pathParameters);
    }
    if (this.#body.kind === 'json') {
      throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
        message: 'Send the parameters as a form (application/x-www-form-urlencoded), not as JSON',
      });
    }
    return reader.read({ path: this.pathParameters, raw: this.#rawParameters() });
  }

  get file(): UploadedFile | undefined {
    return this.#body.kind === 'form' ? this.#body.file : undefined;
  }

  queryParameter(name: string): string | undefined {
    if (this.#query === undefined) {
      this.#query = new Map();
      addUrlEncoded(this.#query, this.queryText);
    }
    const value = this.#query.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  setActor(actor: string): void {
    this.actor = actor;
  }

  /** Returns the names of parameters that the operation does not declare; empty for JSON bodies. */
  ignoredParameters(reader: ParameterReader): string[] {
    return this.#body.kind === 'json' ? [] : reader.ignored(this.#rawParameters());
  }

  #json() {
    if (this.#body.kind === 'json') return parseJsonBody(this.#body.text);
    throw new ProtocolError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Send the request body as JSON (application/json)',
    });
  }

  #rawParameters(): CollectedParameters {
    if (this.#raw === undefined) {
      // Adds the query parameters to the form's own map, which no other code reads.
      this.#raw = this.#body.kind === 'form' ? this.#body.entries : new Map();
      addUrlEncoded(this.#raw, this.queryText);
    }
    return this.#raw;
  }
}
