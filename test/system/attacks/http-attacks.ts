import type { Attack, HeldConnections } from './attack.js';
import { base64, possibleConnections, requestText } from './attack-requests.js';
import type { Target } from './attack-world.js';
import type { Scale } from './scale.js';

const form = 'application/x-www-form-urlencoded';
const connections = 600;

/** Attacks on code shared by both programs. Run only on the relay. */
export const onlyOfRelay: ReadonlySet<string> = new Set([
  'unauthenticated clients send headers at one byte per second',
  'unauthenticated clients connect and send nothing',
  'unauthenticated clients send requests and never read a response',
  'connections end right after many pipelined requests',
  'connections are reset after each byte of a request',
  'connections are closed after each byte of a request',
]);

type MakeHttpAttack = (target: Target, scale: Scale) => Attack;

/** HTTP attacks by name. The name describes the attackers' action and is part of the test's title. */
export const httpAttacks: Readonly<Record<string, MakeHttpAttack>> = {
  'unauthenticated clients send bodies at one byte per second': ({ port, paths }) =>
    hold(port, {
      answers: ['401 UNAUTHORIZED'],
      first: requestText(`POST ${paths.form}`, { 'content-type': form, 'content-length': '9999' }),
    }),
  'another member sends bodies at one byte per second': ({
    name,
    port,
    paths,
    attackerAuthorization: authorization,
  }) =>
    hold(port, {
      answers: [name === 'relay' ? '503 RATE_LIMIT_HIT' : '429 RATE_LIMIT_HIT'],
      first: requestText(`POST ${paths.form}`, {
        authorization,
        'content-type': form,
        'content-length': '9999',
      }),
    }),
  'unauthenticated clients send headers at one byte per second': ({ port, paths }) =>
    hold(port, { first: `POST ${paths.form} HTTP/1.1\r\nx-slow: ` }),
  'unauthenticated clients connect and send nothing': ({ port }, { silentConnections }) =>
    hold(port, { first: '', drip: '', connections: possibleConnections(silentConnections) }),
  'unauthenticated clients send requests and never read a response': ({ port, paths }) =>
    askingWithoutReading(port, requestText(`GET ${paths.open}`), 200),
  'another member requests long responses and never reads one': ({
    port,
    paths,
    attackerAuthorization: authorization,
  }) =>
    // The response names unknown parameters, so it is as long as the request.
    askingWithoutReading(
      port,
      requestText(`GET ${paths.open}?${'x'.repeat(12_000)}=1`, { authorization }),
      50,
    ),
  'connections end right after many pipelined requests': (
    { port, paths, attackerAuthorization: authorization },
    { cutRounds },
  ) => ({
    kind: 'cut',
    port,
    how: 'close',
    isWhole: true,
    rounds: 200 * cutRounds,
    request: base64(whole(paths, authorization).repeat(90)),
  }),
  'connections are reset after each byte of a request': (
    { port, paths, attackerAuthorization: authorization },
    { cutRounds },
  ) => ({
    kind: 'cut',
    port,
    how: 'reset',
    isWhole: false,
    rounds: cutRounds,
    request: base64(whole(paths, authorization)),
  }),
  'connections are closed after each byte of a request': (
    { port, paths, attackerAuthorization: authorization },
    { cutRounds },
  ) => ({
    kind: 'cut',
    port,
    how: 'close',
    isWhole: false,
    rounds: cutRounds,
    request: base64(whole(paths, authorization)),
  }),
};

function whole(paths: Target['paths'], authorization: string): string {
  return requestText(`POST ${paths.form}`, { authorization, 'content-type': form }, `x=${'1'.repeat(200)}`);
}

/**
 * Sends one request at a time per connection, because the target closes connections with too many pipelined requests.
 */
function askingWithoutReading(port: number, request: string, connections: number): HeldConnections {
  const dripBytes = Buffer.byteLength(request);
  return hold(port, { first: request, drip: request, dripBytes, readsAnswers: false, connections });
}

interface Held {
  /** First bytes of each connection. Several strings are assigned round-robin. */
  readonly first: string | readonly string[];
  readonly answers?: readonly string[];
  readonly drip?: string;
  readonly dripBytes?: number;
  readonly connections?: number;
  readonly readsAnswers?: boolean;
}

export function hold(port: number, held: Held): HeldConnections {
  const { first, drip = 'x', readsAnswers = true } = held;
  return {
    kind: 'hold',
    port,
    connections: held.connections ?? connections,
    first: [first].flat().map(base64),
    drip: base64(drip),
    dripBytes: held.dripBytes ?? 1,
    readsAnswers,
    answers: held.answers ?? [],
  };
}
