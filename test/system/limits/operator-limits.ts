import { keyListPath } from '@waxwing/protocol';
import { expect } from 'vitest';
import { importPlainKeys, rotateKeys } from '#relay/keyring/administration/change-keys.js';
import { type Answer, ask, form } from './ask.js';
import { answered, type Limit, refusals } from './limit.js';
import type { RelayUnderLimits } from './relay-under-limits.js';

type RelayLimit = Limit<RelayUnderLimits>;

const kibibyte = 1024;
const adminConnections = 100;

/** Sends a request to the admin socket like a command, with a form of at least this many bytes. */
function command(relay: RelayUnderLimits, path: string, bytes: number): Promise<Answer> {
  const asked = form(`http://localhost${path}`, '', { padding: 'x'.repeat(bytes) });
  const headers = { ...asked.headers, 'waxwing-operator': 'test' };
  return ask({ ...asked, headers, socketPath: relay.adminSocket });
}

/** Limits on the admin socket. They do not depend on the database. */
export const operatorLimits: readonly RelayLimit[] = [
  {
    id: 'admin-body',
    metric: answered(`POST ${rotateKeys.path}`, 413),
    answer: [413, 'PAYLOAD_TOO_LARGE'],
    async provoke(relay) {
      const imported = await command(relay, importPlainKeys.path, 3 * kibibyte * kibibyte);
      expect([imported.status, imported.body?.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      return command(relay, rotateKeys.path, 64 * kibibyte);
    },
  },
  {
    id: 'admin-requests',
    metric: refusals('connections'),
    answer: [200],
    async provoke(relay, door) {
      const first = await door.connect({ path: relay.adminSocket });
      for (let count = 1; count < adminConnections; count++) await door.connect({ path: relay.adminSocket });
      const url = 'http://localhost/health/live';
      const { status } = await ask({ url, socketPath: relay.adminSocket });
      await first.closed;
      return { status };
    },
  },
  {
    id: 'admin-silence',
    metric: refusals('timeout'),
    answer: [408],
    async provoke(relay, door) {
      const connection = await door.connect({ path: relay.adminSocket });
      connection.send(`GET ${keyListPath} HTTP/1.1\r\nhost`);
      await connection.closed;
      return { status: connection.statuses.at(-1) ?? 0 };
    },
  },
];

/** Limits on the time that readiness checks wait for the database. */
export const readinessLimits: readonly RelayLimit[] = [
  {
    id: 'health-seconds',
    answer: [503],
    spares: 'health',
    async provoke(relay) {
      await relay.holdDatabase();
      // Advances the clock enough for the readiness check to retry a write.
      relay.pass();
      const { status, body } = await ask({ url: `${relay.url}/health/ready` });
      expect(body).toMatchObject({ ready: false, checks: { database: 'not ok' } });
      return { status };
    },
    end: (relay) => relay.releaseDatabase(),
  },
  {
    id: 'health-writes',
    answer: [200],
    spares: 'health',
    async provoke(relay) {
      const ready = () => ask({ url: `${relay.url}/health/ready` });
      expect(await ready()).toMatchObject({ status: 200 });
      await relay.holdDatabase();
      relay.pass(4999);
      const { status, body } = await ready();
      expect(body).toMatchObject({ ready: true });
      return { status };
    },
    end: (relay) => relay.releaseDatabase(),
  },
];
