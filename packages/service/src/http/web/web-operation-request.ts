import { refused } from '@waxwing/protocol';
import { ReceivedRequest } from '../operations/received-request.js';

/** The inputs of {@link WebOperationRequest}. */
interface Source {
  readonly id: string;
  /** The operation's declared path. */
  readonly pattern: string;
  /** The request's path after `rewritePath`. */
  readonly path: string;
  /** The query string without `?`. */
  readonly query: string;
  /**
   * The client's address; `undefined` if the host does not pass it. The host must then limit requests per address
   * itself.
   */
  readonly address: string | undefined;
}

/** An operation's view of a Fetch `Request`. */
export class WebOperationRequest extends ReceivedRequest {
  readonly id: string;
  readonly address: string | undefined;
  protected readonly pathParameters: Readonly<Record<string, string>>;
  protected readonly queryText: string;
  readonly #headers: Headers;

  /** @throws ProtocolError BAD_REQUEST if a path parameter is not valid UTF-8 */
  constructor({ headers }: Request, { id, pattern, path, query, address }: Source) {
    super();
    this.id = id;
    this.address = address;
    this.#headers = headers;
    this.queryText = query;
    this.pathParameters = parametersIn(pattern, path);
  }

  /** Equals `address`: no other address is known. */
  get nearestAddress(): string | undefined {
    return this.address;
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined;
  }
}

function parametersIn(pattern: string, path: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  const parts = path.split('/');
  for (const [index, part] of pattern.split('/').entries()) {
    if (part.startsWith('{')) parameters[part.slice(1, -1)] = decode(parts[index] ?? '');
  }
  return parameters;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refused('Invalid path: must be UTF-8');
  }
}
