import type { RepeatedRequests } from './attack.js';
import { base64, requestText } from './attack-requests.js';
import type { AttackWorld } from './attack-world.js';

/** A request that is answered the same however often it comes. */
export interface RefusedRequest {
  readonly statuses: readonly number[];
  /** Its whole text. */
  readonly request: string;
  /** Where the rest of it is not read, so that no other can follow on the same connection. */
  readonly endsConnection?: boolean;
}

/** By what attackers do, said as the end of a sentence. */
export type Refusals = Readonly<
  Record<string, (world: AttackWorld) => RefusedRequest | Promise<RefusedRequest>>
>;

const form = 'application/x-www-form-urlencoded';
// As many at once as a member may have, and no more together than may wait on all connections.
const connections = 24;
const depth = 4;

export function formRequest(
  status: number | readonly number[],
  path: string,
  authorization: string,
  fields: Readonly<Record<string, string>>,
): RefusedRequest {
  const body = new URLSearchParams(fields).toString();
  return {
    statuses: [status].flat(),
    request: requestText(`POST ${path}`, { authorization, 'content-type': form }, body),
  };
}

export function jsonRequest(
  statuses: readonly number[],
  path: string,
  authorization: string,
  body: string,
): RefusedRequest {
  const headers = { authorization, 'content-type': 'application/json' };
  return { statuses, request: requestText(`POST ${path}`, headers, body) };
}

/** The attack that sends them in turn at full speed. */
export function flood(port: number, refused: readonly RefusedRequest[], total: number): RepeatedRequests {
  const endsConnections = refused.some(({ endsConnection }) => endsConnection === true);
  return {
    kind: 'flood',
    port,
    connections,
    requests: refused.map(({ request }) => base64(request)),
    statuses: [...new Set(refused.flatMap(({ statuses }) => statuses))],
    total,
    depth: endsConnections ? 1 : depth,
    endsConnections,
  };
}
