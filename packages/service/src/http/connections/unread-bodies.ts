import type { IncomingMessage } from 'node:http';
import { atEndOfTurn } from '../../lifecycle/at-end-of-turn.js';

/** The rest of a body whose request was answered already. */
export interface UnreadBody {
  /** By `performance.now()`. */
  readonly since: number;
  /** `undefined` once all of it has come. */
  request: IncomingMessage | undefined;
}

/**
 * Requests that were answered before all of their bodies had come. Of most that is so because they were refused between
 * head and body of the same packet: they are let go at the end of the turn, before they outlive collections of garbage.
 */
export class UnreadBodies {
  #new: UnreadBody[] = [];

  begin(request: IncomingMessage): UnreadBody {
    const body = { since: performance.now(), request };
    if (this.#new.length === 0) atEndOfTurn(this.#letGo);
    this.#new.push(body);
    return body;
  }

  readonly #letGo = (): void => {
    for (const body of this.#new) letGoWhenRead(body);
    this.#new = [];
  };
}

/** Whether some of it is still to come. */
export function isUnread(body: UnreadBody | undefined): body is UnreadBody {
  if (body !== undefined) letGoWhenRead(body);
  return body?.request !== undefined;
}

function letGoWhenRead(body: UnreadBody): void {
  if (body.request?.complete) body.request = undefined;
}
