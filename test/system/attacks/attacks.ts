import type { Attack } from './attack.js';
import { base64 } from './attack-requests.js';
import type { AttackWorld, Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { chatRefusals, endlessUpload } from './chat-refusals.js';
import { expensiveRelayRequests } from './expensive-relay-requests.js';
import { answered, everyExpensiveRequest, expensiveRequests, thirtyAtOnce } from './expensive-requests.js';
import { experience } from './honest-user.js';
import { hold, httpAttacks, onlyOfRelay } from './http-attacks.js';
import { httpRefusals } from './http-refusals.js';
import { addMemberData, type MemberData } from './member-data.js';
import { flood, formRequest, type Refusals, type RefusedRequest, wrongCredentials } from './refusals.js';
import { relayRefusals } from './relay-refusals.js';
import { type Scale, warmingScale } from './scale.js';
import { newAuthorization, openQueue, polling, serverRefusals, wrongSignIn } from './server-refusals.js';

/** Prepares an attack's data and returns the attack. */
export type MakeAttack = (world: AttackWorld, scale: Scale) => Promise<Attack>;

/** Attacks, keyed by the attackers' action as a clause that follows "while". */
type Attacks = Readonly<Record<string, MakeAttack>>;

const polls = 600;
/** More than the number of polls that one user may have in flight. Each poll uses a separate queue. */
const polledQueues = 40;
const uploads = 100;
const unauthenticatedClients = 300;
const tooMany = '429 RATE_LIMIT_HIT';
const inventingCredentials = 'unauthenticated clients invent credentials on hundreds of connections';
const guessing = 'unauthenticated clients guess the passwords for thousands of user names';

/** Name of the attack with all requests that are refused before their content is checked and keep the connection. */
export const everyHttpRefusal = 'clients send every kind of refused HTTP request at full speed';
/** Name of the attack in which members send every kind of refused request in turn. */
export const everyRefusal = 'members send every kind of refused request at full speed';

/** Attacks that hold connections or occupy the scheduler. */
export function httpAttacksOn(program: Target['name']): Attacks {
  const holding = Object.entries(httpAttacks)
    .filter(([what]) => program === 'relay' || !onlyOfRelay.has(what))
    .map(([what, make]): [string, MakeAttack] => [what, async (world, scale) => make(world[program], scale)]);
  return Object.fromEntries([...holding, inventing(program), ...(program === 'server' ? serverAttacks : [])]);
}

/** Requests that are refused without a database query: a flood of each kind, and {@link everyHttpRefusal}. */
export function httpRefusalsOn(program: Target['name']): Attacks {
  const refusals = Object.entries(httpRefusals).map(([what, make]): [string, Refusals[string]] => [
    what,
    (world) => make(world[program]),
  ]);
  return floodsOf(program, Object.fromEntries(refusals), everyHttpRefusal);
}

/** Spreads requests over many connections, so that the scheduler alternates between many clients. */
function inventing(program: Target['name']): [string, MakeAttack] {
  const make: MakeAttack = async ({ [program]: { paths, port } }, { floodRequests }) => {
    const requests = Array.from({ length: unauthenticatedClients }, (_, index): [string, RefusedRequest] => [
      inventingCredentials,
      formRequest(wrongCredentials[program], paths.form, `Basic ${base64(`client${index}:b`)}`, { x: '1' }),
    ]);
    const attack = flood(port, requests, floodRequests);
    return { ...attack, connections: unauthenticatedClients, depth: 1, localAddress: '127.0.0.2' };
  };
  return [inventingCredentials, make];
}

/** Requests from members that query the database: a flood of each kind, and {@link everyRefusal}. */
export function memberAttacksOn(program: Target['name']): Attacks {
  const more = program === 'server' ? signInAttacks : {};
  return { ...floodsOf(program, refusalsOf(program), everyRefusal), ...more };
}

function refusalsOf(program: Target['name']): Refusals {
  return program === 'relay' ? relayRefusals : { ...serverRefusals, ...chatRefusals };
}

/**
 * One flood for each kind of refusal. `everyOne` is the name of an additional flood with all refusals that do not end
 * the connection.
 */
function floodsOf(program: Target['name'], refusals: Refusals, everyOne: string): Attacks {
  const each = Object.entries(refusals).map(([what, make]): [string, MakeAttack] => [
    `${what} at full speed`,
    async (world, { floodRequests }) =>
      flood(world[program].port, [[what, await make(world)]], floodRequests),
  ]);
  const all: MakeAttack = async (world, scale) =>
    floodOfAll(world[program].port, await readyAll(world, refusals), scale);
  return { ...Object.fromEntries(each), [everyOne]: all };
}

/** Prepares the refused requests that do not end the connection, each with the attackers' action. */
async function readyAll(world: AttackWorld, refusals: Refusals): Promise<[string, RefusedRequest][]> {
  const made = await Promise.all(
    Object.entries(refusals).map(
      async ([what, make]): Promise<[string, RefusedRequest]> => [what, await make(world)],
    ),
  );
  return made.filter(([, { endsConnection }]) => endsConnection !== true);
}

/** One flood that cycles through all refusals. `scale` sets the number of requests. */
function floodOfAll(
  port: number,
  refused: readonly (readonly [string, RefusedRequest])[],
  { floodRequests, fewestOfEach }: Scale,
): Attack {
  return flood(port, refused, Math.max(floodRequests, refused.length * fewestOfEach));
}

const guessedNames = 5000;

const signInAttacks: Attacks = {
  [`${guessing} at full speed`]: async ({ server: { port } }, { floodRequests }) => {
    const guesses = Array.from({ length: guessedNames }, (_, index): [string, RefusedRequest] => [
      guessing,
      wrongSignIn(`person${index}@system.example`),
    ]);
    return flood(port, guesses, floodRequests);
  },
};

const serverAttacks: readonly (readonly [string, MakeAttack])[] = [
  [
    'another user polls one queue on many connections',
    async ({ constellation, server: { port } }) => {
      const authorization = await newAuthorization(constellation);
      const { request } = polling(authorization, await openQueue(constellation, authorization));
      return hold(port, { first: request, drip: '', connections: polls, answers: ['200', tooMany] });
    },
  ],
  [
    'another user polls many queues concurrently',
    async ({ constellation, server: { port } }) => {
      const authorization = await newAuthorization(constellation);
      const first: string[] = [];
      // Opens the queues one after another, because a slow machine would refuse some of forty concurrent requests.
      for (let count = 0; count < polledQueues; count++) {
        first.push(polling(authorization, await openQueue(constellation, authorization)).request);
      }
      return hold(port, { first, drip: '', connections: polledQueues, answers: ['200', tooMany] });
    },
  ],
  [
    'another user uploads files at one byte per second',
    async ({ constellation, server: { port } }) => {
      const first = endlessUpload(await newAuthorization(constellation));
      return hold(port, { first, connections: uploads, answers: [tooMany] });
    },
  ],
];

/** The most expensive successful requests for a server, by kind. */
export const expensiveAttacks: Attacks = Object.fromEntries(
  Object.entries(expensiveRequests).map(([what, requestsOf]): [string, MakeAttack] => [
    `${what}, thirty at once`,
    async (world, scale) => {
      const requests = requestsOf(await memberData(world, scale));
      return thirtyAtOnce(
        world.server.port,
        requests.map((request) => [what, answered(what, request)]),
      );
    },
  ]),
);

/** The most expensive successful requests for a relay, by kind. */
export const expensiveRelayAttacks: Attacks = Object.fromEntries(
  Object.entries(expensiveRelayRequests).map(([what, make]): [string, MakeAttack] => [
    `${what}, thirty at once`,
    async (world) => thirtyAtOnce(world.relay.port, [[what, await make(world)]]),
  ]),
);

/** Cycles through all of {@link expensiveAttacks}. */
export const makeEveryExpensive: MakeAttack = async (world, scale) =>
  thirtyAtOnce(world.server.port, everyExpensiveRequest(await memberData(world, scale)));

let added: { readonly world: AttackWorld; readonly data: Promise<MemberData> } | undefined;

/** Returns the member's data, which is added once per world. */
function memberData(world: AttackWorld, scale: Scale): Promise<MemberData> {
  if (added?.world !== world) added = { world, data: addMemberData(world.constellation, scale) };
  return added.data;
}

/**
 * Makes both programs handle each of the members' requests a few times, so that memory that they always need does not
 * count as growth.
 * @returns for each program, the attack that repeats all requests.
 */
export async function warmUp(world: AttackWorld): Promise<Record<Target['name'], MakeAttack>> {
  return { relay: await warmOne(world, 'relay'), server: await warmOne(world, 'server') };
}

async function warmOne(world: AttackWorld, program: Target['name']): Promise<MakeAttack> {
  const { honest, port } = world[program];
  const refused = await readyAll(world, refusalsOf(program));
  await experience(honest, warmingScale.warmingRequests);
  // Does not wait for memory to be released, because a process keeps some memory after its first requests.
  const attacker = await Attacker.start(floodOfAll(port, refused, warmingScale));
  try {
    await attacker.over();
  } finally {
    await attacker.stop();
  }
  return async (_world, scale) => {
    const lapsed = new Set(refused.flatMap(([what, { lapses }]) => (lapses === true ? [what] : [])));
    const made = Object.entries(refusalsOf(program)).filter(([what]) => lapsed.has(what));
    const again = await readyAll(world, Object.fromEntries(made));
    return floodOfAll(port, [...new Map([...refused, ...again])], scale);
  };
}
