import type { RepeatedRequests } from './attack.js';
import { base64, requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';

/** A request that is answered the same however often it comes. */
export interface RefusedRequest {
  /** Status and code, such as `400 BAD_REQUEST`, or `200` alone. */
  readonly answers: readonly string[];
  /** Its whole text. */
  readonly request: string;
  /** Where the rest of it is not read, so that no other can follow on the same connection. */
  readonly endsConnection?: boolean;
  /** Is refused for a time only, so that it must be readied again before it is sent later. */
  readonly lapses?: boolean;
}

/** By what attackers do, said as the end of a sentence. */
export type Refusals = Readonly<
  Record<string, (world: AttackWorld) => RefusedRequest | Promise<RefusedRequest>>
>;

/** What each program answers to invalid credentials. */
export const wrongCredentials = { relay: '401 UNAUTHORIZED', server: '401 INVALID_API_KEY' } as const;

const form = 'application/x-www-form-urlencoded';
// As many at once as a member may have, and no more together than may wait on all connections.
const connections = 24;
const depth = 4;

export function formRequest(
  answer: string | readonly string[],
  path: string,
  authorization: string,
  fields: Readonly<Record<string, string>>,
): RefusedRequest {
  const body = new URLSearchParams(fields).toString();
  return {
    answers: [answer].flat(),
    request: requestText(`POST ${path}`, { authorization, 'content-type': form }, body),
  };
}

export function jsonRequest(
  answers: readonly string[],
  path: string,
  authorization: string,
  body: string,
): RefusedRequest {
  const headers = { authorization, 'content-type': 'application/json' };
  return { answers, request: requestText(`POST ${path}`, headers, body) };
}

/** The attack that sends them in turn at full speed, each with what attackers do by it. */
export function flood(
  port: number,
  refused: readonly (readonly [what: string, RefusedRequest])[],
  total: number,
): RepeatedRequests {
  const endsConnections = refused.some(([, { endsConnection }]) => endsConnection === true);
  return {
    kind: 'flood',
    port,
    connections,
    requests: refused.map(([what, { answers, request }]) => ({ what, answers, text: base64(request) })),
    total,
    depth: endsConnections ? 1 : depth,
    endsConnections,
  };
}
