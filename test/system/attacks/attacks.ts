import type { Attack } from './attack.js';
import { base64 } from './attack-requests.js';
import type { AttackWorld, Target } from './attack-world.js';
import { Attacker } from './attacker.js';
import { chatRefusals, endlessUpload } from './chat-refusals.js';
import { experience } from './honest-user.js';
import { hold, httpAttacks, onlyOfRelay } from './http-attacks.js';
import { httpRefusals } from './http-refusals.js';
import { flood, formRequest, type Refusals, wrongCredentials } from './refusals.js';
import { relayRefusals } from './relay-refusals.js';
import { type Scale, warmingScale } from './scale.js';
import { newAuthorization, openQueue, polling, serverRefusals, wrongSignIn } from './server-refusals.js';

/** Readies what an attack needs, and says what its attackers do. */
export type MakeAttack = (world: AttackWorld, scale: Scale) => Promise<Attack>;

/** By what attackers do, said as the end of a sentence. */
type Attacks = Readonly<Record<string, MakeAttack>>;

const polls = 600;
const uploads = 100;
const strangers = 300;

/** What is refused before anybody looks into what is asked, all of it in turn that leaves a connection open. */
export const everyHttpRefusal = 'strangers and members are refused at the door in every way at full speed';
/** What is refused of members, all of it in turn. */
export const everyRefusal = 'members are refused in every way at full speed';

/** What holds connections, or takes turns. */
export function httpAttacksOn(program: Target['name']): Attacks {
  const holding = Object.entries(httpAttacks)
    .filter(([what]) => program === 'relay' || !onlyOfRelay.has(what))
    .map(([what, make]): [string, MakeAttack] => [what, async (world, scale) => make(world[program], scale)]);
  return Object.fromEntries([...holding, inventing(program), ...(program === 'server' ? serverAttacks : [])]);
}

/** What needs no store to be refused: each kind, and {@link everyHttpRefusal}. */
export function httpRefusalsOn(program: Target['name']): Attacks {
  const refusals = Object.entries(httpRefusals).map(([what, make]): [string, Refusals[string]] => [
    what,
    (world) => make(world[program]),
  ]);
  return floodsOf(program, Object.fromEntries(refusals), everyHttpRefusal);
}

/** Each comes on one of many connections, so that it takes its turn beside all the others. */
function inventing(program: Target['name']): [string, MakeAttack] {
  const make: MakeAttack = async ({ [program]: { paths, port } }, { floodRequests }) => {
    const requests = Array.from({ length: strangers }, (_, index) =>
      formRequest(wrongCredentials[program], paths.form, `Basic ${base64(`stranger${index}:b`)}`, { x: '1' }),
    );
    const attack = flood(port, requests, floodRequests);
    return { ...attack, connections: strangers, depth: 1, localAddress: '127.0.0.2' };
  };
  return ['strangers invent credentials on hundreds of connections', make];
}

/** What members ask that the store must answer: each kind, and {@link everyRefusal}. */
export function memberAttacksOn(program: Target['name']): Attacks {
  const refusals = program === 'relay' ? relayRefusals : { ...serverRefusals, ...chatRefusals };
  const more = program === 'server' ? signInAttacks : {};
  return { ...floodsOf(program, refusals, everyRefusal), ...more };
}

/** The floods of each kind, and the one of all that do not end their connection, by this name. */
function floodsOf(program: Target['name'], refusals: Refusals, everyOne: string): Attacks {
  const each = Object.entries(refusals).map(([what, make]): [string, MakeAttack] => [
    `${what} at full speed`,
    async (world, { floodRequests }) => flood(world[program].port, [await make(world)], floodRequests),
  ]);
  const all: MakeAttack = async (world, scale) => {
    const made = await Promise.all(Object.values(refusals).map((make) => make(world)));
    const refused = made.filter(({ endsConnection }) => endsConnection !== true);
    return atScale(flood(world[program].port, refused, 1), scale);
  };
  return { ...Object.fromEntries(each), [everyOne]: all };
}

/** The same flood, of as many requests as the scale says. */
export function atScale(attack: Attack, { floodRequests, fewestOfEach }: Scale): Attack {
  if (attack.kind !== 'flood') return attack;
  return { ...attack, total: Math.max(floodRequests, attack.requests.length * fewestOfEach) };
}

const guessedNames = 5000;

const signInAttacks: Attacks = {
  'the passwords of thousands of names are guessed at full speed': async (
    { server: { port } },
    { floodRequests },
  ) => {
    const guesses = Array.from({ length: guessedNames }, (_, index) =>
      wrongSignIn(`person${index}@system.example`),
    );
    return flood(port, guesses, floodRequests);
  },
};

const serverAttacks: readonly (readonly [string, MakeAttack])[] = [
  [
    'another user polls one queue on many connections',
    async ({ constellation, server: { port } }) => {
      const authorization = await newAuthorization(constellation);
      const { request } = polling(authorization, await openQueue(constellation, authorization));
      return hold(port, { first: request, drip: '', connections: polls });
    },
  ],
  [
    'another user polls many queues at once',
    async ({ constellation, server: { port } }) => {
      const authorization = await newAuthorization(constellation);
      const queues = await Promise.all(
        Array.from({ length: 40 }, () => openQueue(constellation, authorization)),
      );
      const first = queues.map((queue) => polling(authorization, queue).request).join('');
      return hold(port, { first, drip: '', connections: polls });
    },
  ],
  [
    'another user uploads files a byte a second',
    async ({ constellation, server: { port } }) => {
      const first = endlessUpload(await newAuthorization(constellation));
      return hold(port, { first, connections: uploads });
    },
  ],
];

/**
 * Has both programs do a few times what members ask of them: what they need for that anyway is no growth.
 * @returns what each was asked, which can be asked again.
 */
export async function warmUp(world: AttackWorld): Promise<Record<Target['name'], Attack>> {
  return { relay: await warmOne(world, 'relay'), server: await warmOne(world, 'server') };
}

async function warmOne(world: AttackWorld, program: Target['name']): Promise<Attack> {
  const make = memberAttacksOn(program)[everyRefusal];
  if (make === undefined) throw new Error(`nothing is refused of members of the ${program}`);
  const attack = await make(world, warmingScale);
  await experience(world[program].honest, warmingScale.warmingRequests);
  // What a process keeps from its first requests on is not waited for.
  const attacker = await Attacker.start(attack);
  try {
    await attacker.over();
  } finally {
    await attacker.stop();
  }
  return attack;
}
