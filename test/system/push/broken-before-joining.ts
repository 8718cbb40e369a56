import { freePort } from '../../support/free-ports.js';
import type { Broken } from './broken-world.js';

/** Set-ups of a server that has not joined a relay yet. */
export const beforeJoining: Readonly<Record<string, Broken>> = {
  'nothing configured': {
    breaks: () => 'none',
    check: 'configuration',
    cause: /^No relay is configured/,
    remedy: /push enable --relay URL/,
  },
  'an interrupted join': {
    breaks: async (w) => {
      await w.world.run(['push', 'enable', '--relay', `http://127.0.0.1:${await freePort()}`]);
      return 'none' as const;
    },
    mends: (w) => w.world.run(['push', 'disable', '--forget', '--yes']),
    check: 'configuration',
    cause: /^Joining http.* has begun but did not finish/,
    remedy: /push enable --relay http.* again/,
  },
};
