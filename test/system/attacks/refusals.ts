import type { RepeatedRequests } from './attack.js';
import { base64, requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';

/** A request that gets the same response however often it is sent. */
export interface RefusedRequest {
  /** Allowed responses: status and code, such as `400 BAD_REQUEST`, or only `200`. */
  readonly answers: readonly string[];
  /** The whole HTTP request. */
  readonly request: string;
  /** Whether the target ignores the rest of the request, so that no other request can follow on the connection. */
  readonly endsConnection?: boolean;
  /** Whether the refusal is temporary, so that the request must be prepared again before it is sent later. */
  readonly lapses?: boolean;
}

/** Functions that prepare a request, keyed by the attackers' action as a clause that follows "while". */
export type Refusals = Readonly<
  Record<string, (world: AttackWorld) => RefusedRequest | Promise<RefusedRequest>>
>;

/** Each program's response to invalid credentials. */
export const wrongCredentials = { relay: '401 UNAUTHORIZED', server: '401 INVALID_API_KEY' } as const;

const form = 'application/x-www-form-urlencoded';
// As many connections as a member may use concurrently. Multiplied by `depth`, must not exceed the total queue limit.
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

/** The attack that cycles through these requests at full speed. Each request comes with the attackers' action. */
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
