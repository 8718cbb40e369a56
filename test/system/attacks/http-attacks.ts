import type { Attack, HeldConnections, RepeatedRequests } from './attack.js';
import { base64, possibleConnections, requestText } from './attack-requests.js';
import type { Target } from './attack-world.js';

/** Small ones, so that attacks that reach them are small as well. */
export const settings = {
  MAXIMUM_CONNECTIONS: '400',
  MAXIMUM_REQUESTS_IN_FLIGHT: '100',
  HEAD_TIMEOUT_SECONDS: '2',
  REQUEST_TIMEOUT_SECONDS: '3',
  IDLE_TIMEOUT_SECONDS: '3',
  ANSWER_TIMEOUT_SECONDS: '3',
};

const form = 'application/x-www-form-urlencoded';
const connections = 600;
const floodRequests = 100_000;

/** Where a target takes bodies, and long answers come from. */
interface Paths {
  readonly form: string;
  readonly json: string;
  readonly open: string;
}

/** What is the same code in both programs is attacked in one of them only. */
const onlyOfRelay: ReadonlySet<string> = new Set([
  'strangers send headers a byte a second',
  'strangers connect and say nothing',
  'strangers ask and never read an answer',
  'connections end right after many requests',
  'connections are reset at each byte of a request',
  'connections are closed at each byte of a request',
]);

export function attacksOn(program: 'relay' | 'server'): string[] {
  return Object.keys(attacks).filter((what) => program === 'relay' || !onlyOfRelay.has(what));
}

export type MakeAttack = (target: Target, paths: Paths) => Attack;

/** What attackers do, said as the end of a sentence. */
export const attacks: Readonly<Record<string, MakeAttack>> = {
  'strangers send bodies a byte a second': ({ port }, paths) =>
    hold(port, {
      first: requestText(`POST ${paths.form}`, { 'content-type': form, 'content-length': '9999' }),
    }),
  'another member sends bodies a byte a second': ({ port, attackerAuthorization: authorization }, paths) =>
    hold(port, {
      first: requestText(`POST ${paths.form}`, {
        ...{ authorization, 'content-type': form, 'content-length': '9999' },
      }),
    }),
  'strangers send headers a byte a second': ({ port }, paths) =>
    hold(port, { first: `POST ${paths.form} HTTP/1.1\r\nx-slow: ` }),
  'strangers connect and say nothing': ({ port }) =>
    hold(port, { first: '', drip: '', connections: possibleConnections(20_000) }),
  'strangers ask and never read an answer': ({ port }, paths) =>
    hold(port, {
      first: requestText(`GET ${paths.open}`).repeat(90),
      drip: '',
      readsAnswers: false,
      connections: 200,
    }),
  'another member asks for much and never reads an answer': (
    { port, attackerAuthorization: authorization },
    paths,
  ) =>
    hold(port, {
      // What it does not know is named in the answer.
      first: requestText(`GET ${paths.open}?${'x'.repeat(12_000)}=1`, { authorization }).repeat(90),
      drip: '',
      readsAnswers: false,
      connections: 50,
    }),
  'connections end right after many requests': ({ port, attackerAuthorization: authorization }, paths) => ({
    ...{ kind: 'cut', port, how: 'close', isWhole: true, rounds: 200 },
    request: base64(whole(paths, authorization).repeat(90)),
  }),
  'connections are reset at each byte of a request': (
    { port, attackerAuthorization: authorization },
    paths,
  ) => ({
    ...{ kind: 'cut', port, how: 'reset', isWhole: false, rounds: 2 },
    request: base64(whole(paths, authorization)),
  }),
  'connections are closed at each byte of a request': (
    { port, attackerAuthorization: authorization },
    paths,
  ) => ({
    ...{ kind: 'cut', port, how: 'close', isWhole: false, rounds: 2 },
    request: base64(whole(paths, authorization)),
  }),
  'an unknown path is asked for at full speed': ({ port }) => flood(port, requestText('GET /nowhere')),
  'a wrong method is used at full speed': ({ port }, paths) =>
    flood(port, requestText(`PATCH ${paths.form}`)),
  'wrong credentials are tried at full speed': ({ port }, paths) =>
    flood(
      port,
      requestText(
        `POST ${paths.form}`,
        { authorization: `Basic ${base64('a:b')}`, 'content-type': form },
        'x=1',
      ),
    ),
  'another member sends what is wrong at full speed': (
    { port, attackerAuthorization: authorization },
    paths,
  ) => flood(port, requestText(`POST ${paths.form}`, { authorization, 'content-type': form }, 'x=1')),
  'another member sends what is no JSON at full speed': (
    { port, attackerAuthorization: authorization },
    paths,
  ) =>
    flood(
      port,
      requestText(`POST ${paths.json}`, { authorization, 'content-type': 'application/json' }, '{'),
    ),
  'another member sends what is too large at full speed': (
    { port, attackerAuthorization: authorization },
    paths,
  ) => {
    const headers = { authorization, 'content-type': form, 'content-length': '999999999' };
    return { ...flood(port, requestText(`POST ${paths.form}`, headers)), depth: 1, endsConnections: true };
  },
};

function whole(paths: Paths, authorization: string): string {
  return requestText(`POST ${paths.form}`, { authorization, 'content-type': form }, `x=${'1'.repeat(200)}`);
}

interface Held {
  readonly first: string;
  readonly drip?: string;
  readonly connections?: number;
  readonly readsAnswers?: boolean;
}

function hold(port: number, held: Held): HeldConnections {
  const { first, drip = 'x', readsAnswers = true } = held;
  return {
    kind: 'hold',
    port,
    connections: held.connections ?? connections,
    first: base64(first),
    drip: base64(drip),
    readsAnswers,
  };
}

function flood(port: number, request: string): RepeatedRequests {
  return {
    kind: 'flood',
    port,
    connections: 4,
    request: base64(request),
    requests: floodRequests,
    depth: 50,
    endsConnections: false,
  };
}
