import type { IncomingMessage } from 'node:http';
import { atEndOfTick } from '../../lifecycle/end-of-tick.js';
import { SlowReader } from './slow-reader.js';

/** The rest of a body whose request was answered before the whole body had arrived. */
export interface UnreadBody {
  /** Time of the response, from `performance.now()`. */
  readonly since: number;
  /** `undefined` once the whole body has arrived. */
  request: IncomingMessage | undefined;
}

/** Maximum size of a body whose rest is read at full speed. The rest of a larger body is read slowly. */
const smallBodyBytes = 64 * 1024;

/**
 * Tracks requests that were answered before their bodies arrived. Most of them were refused after the head, and their
 * bodies arrived in the same packet. Drops the references at the end of the tick, so that the young-generation garbage
 * collector can free the requests. The rest of a large body is read slowly.
 */
export class UnreadBodies {
  #new: UnreadBody[] = [];
  readonly #reader = new SlowReader();

  begin(request: IncomingMessage): UnreadBody {
    const body = { since: performance.now(), request };
    if (this.#new.length === 0) atEndOfTick(this.#dropComplete);
    this.#new.push(body);
    return body;
  }

  readonly #dropComplete = (): void => {
    for (const body of this.#new) {
      if (isUnread(body) && isLarge(body.request)) this.#reader.add(body.request);
    }
    this.#new = [];
  };
}

/** Whether part of the body has not arrived yet. */
export function isUnread(
  body: UnreadBody | undefined,
): body is UnreadBody & { readonly request: IncomingMessage } {
  if (body?.request?.complete) body.request = undefined;
  return body?.request !== undefined;
}

/** Whether a body may be large. This includes bodies without a declared length. */
function isLarge({ headers }: IncomingMessage): boolean {
  return !(Number(headers['content-length']) <= smallBodyBytes);
}
