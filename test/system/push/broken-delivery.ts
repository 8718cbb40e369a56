import { expect } from 'vitest';
import { refused } from '../../support/relay-stand-in.js';
import type { Broken } from './broken-world.js';

const hasReason = ({ reason }: { reason: string | undefined }) => reason !== undefined;
const withoutApps = {
  RELAY_APPS_FILE: undefined,
  RELAY_APNS_CA_FILE: undefined,
  RELAY_FCM_BASE_URL: undefined,
  RELAY_APNS_PRODUCTION_URL: undefined,
  RELAY_APNS_SANDBOX_URL: undefined,
};

/** Set-ups with faults between the relay, the vendors and the phones. */
export const delivery: Readonly<Record<string, Broken>> = {
  'phones that encrypt for a key that the relay does not have': {
    breaks: async (w) => {
      await w.world.registerPhones(w.ada, Buffer.alloc(32, 9).toString('base64'));
      return {};
    },
    mends: (w) => w.world.registerPhones(w.ada),
    check: 'devices',
    cause: /No phone is registered: .* INVALID_BOUNCER_PUBLIC_KEY/,
    remedy: /app build/,
  },
  'a relay without credentials for the app': {
    breaks: (w) => w.reloadApps(['apns']),
    mends: (w) => w.reloadApps(['fcm', 'apns']),
    check: 'apps',
    cause: /no credentials for 1 device of the Android app/,
    remedy: /apps file/,
  },
  'credentials that Google rejects': {
    breaks: async (w) => {
      await w.refusedBy({ vendor: 'oauth', status: 400, reason: 'invalid_grant' });
      return {};
    },
    check: 'apps',
    cause: /Google refuses the relay's credentials for 1 device of the Android app/,
    remedy: /waxwing-relay apps check/,
  },
  'credentials that Apple rejects': {
    breaks: async (w) => {
      await w.refusedBy({ vendor: 'apns', status: 403, reason: 'InvalidProviderToken' });
      return {};
    },
    check: 'apps',
    cause: /Apple refuses the relay's credentials for 1 device of the Apple app org.example.app/,
    remedy: /waxwing-relay apps check/,
  },
  'a relay without any credentials': {
    breaks: async (w) => {
      await w.world.stopRelay();
      await w.world.startRelay(withoutApps);
      return {};
    },
    mends: async (w) => {
      await w.world.stopRelay();
      await w.world.startRelay();
    },
    check: 'apps',
    cause: /no credentials for any app/,
    remedy: /RELAY_APPS_FILE/,
  },
  'a notification that is waiting for the relay': {
    breaks: async (w) => {
      await w.world.stopRelay();
      await w.world.run(['push', 'send', '--user', w.ada.email, '--text', 'while it is down']);
      await expect
        .poll(async () => (await w.world.server.database.jobs.list({ state: 'waiting' })).some(hasReason))
        .toBe(true);
      return {};
    },
    mends: async (w) => {
      await w.world.startRelay();
      const dropRest = async () => {
        const jobs = await w.world.server.database.jobs.list({});
        await w.dropAll(jobs);
        return jobs.length;
      };
      await expect.poll(dropRest).toBe(0);
    },
    check: 'jobs',
    cause: /1 job waits for the relay, since the relay at .* cannot be reached/,
    remedy: /retries automatically/,
  },
  'a notification that was given up': {
    breaks: async (w) => {
      w.standIn.otherwise(refused(400, 'BAD_REQUEST', 'no'));
      await w.world.stopServer();
      await w.world.startServer({ ...w.account, SERVER_RELAY_URL: w.standIn.url });
      await w.world.run(['push', 'send', '--user', w.ada.email, '--text', 'refused for good']);
      await expect.poll(() => w.world.server.database.jobs.list({ state: 'dead' })).toHaveLength(1);
      return {};
    },
    mends: async (w) => {
      await w.world.server.database.jobs.list({ state: 'dead' }).then((jobs) => w.dropAll(jobs));
      await w.world.stopServer();
      await w.world.startServer();
    },
    check: 'given-up jobs',
    cause: /1 job was given up, .*: the relay refused it/,
    remedy: /queue list --state dead/,
  },
  'a server that is not running': {
    breaks: async (w) => {
      await w.world.stopServer();
      await w.world.run(['push', 'send', '--user', w.ada.email, '--text', 'nothing runs']);
      w.world.ahead.server = 3 * 60_000;
      return {};
    },
    mends: async (w) => {
      w.world.ahead.server = 0;
      await w.world.startServer();
    },
    check: 'jobs',
    cause: /waits?, and the oldest has been due since .*: no server process works on them/,
    remedy: /^Start the server/,
  },
};
