import type { IncomingMessage } from 'node:http';
import { atEndOfTick } from '../../lifecycle/end-of-tick.js';

/** The rest of a body whose request was answered before all of it arrived. */
export interface UnreadBody {
  /** Time by `performance.now()`. */
  readonly since: number;
  /** `undefined` once the whole body has arrived. */
  request: IncomingMessage | undefined;
}

/**
 * Tracks requests that were answered before their bodies arrived. Most were refused after the head, and their bodies
 * came in the same packet. Their references are dropped at the end of the tick, so that the young-generation collector
 * frees them.
 */
export class UnreadBodies {
  #new: UnreadBody[] = [];

  begin(request: IncomingMessage): UnreadBody {
    const body = { since: performance.now(), request };
    if (this.#new.length === 0) atEndOfTick(this.#dropComplete);
    this.#new.push(body);
    return body;
  }

  readonly #dropComplete = (): void => {
    for (const body of this.#new) dropIfComplete(body);
    this.#new = [];
  };
}

/** Whether part of the body has yet to arrive. */
export function isUnread(body: UnreadBody | undefined): body is UnreadBody {
  if (body !== undefined) dropIfComplete(body);
  return body?.request !== undefined;
}

function dropIfComplete(body: UnreadBody): void {
  if (body.request?.complete) body.request = undefined;
}
