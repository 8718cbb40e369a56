import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Broken } from './broken-world.js';

/** Set-ups with mistakes in the server's configuration. */
export const configuration: Readonly<Record<string, Broken>> = {
  'a relay that is only partly configured': {
    breaks: () => ({ SERVER_RELAY_SERVER_ID: '' }),
    check: 'configuration',
    cause: /only partly configured, SERVER_RELAY_SERVER_ID missing/,
    remedy: /^Set all SERVER_RELAY_\* or none/,
  },
  'a misspelled setting': {
    breaks: () => ({ SERVER_RELAY_ADDRESS: 'x' }),
    check: 'configuration',
    cause: /SERVER_RELAY_ADDRESS is not a setting/,
    remedy: /spelling|mean/,
  },
  'an address without https://': {
    breaks: () => ({ SERVER_RELAY_URL: 'relay.example' }),
    check: 'configuration',
    cause: /SERVER_RELAY_URL is "relay.example"/,
    remedy: /^It must be a URL that starts with http/,
  },
  'plain http to another machine': {
    breaks: () => ({ SERVER_RELAY_URL: 'http://relay.example' }),
    check: 'configuration',
    cause: /SERVER_RELAY_URL/,
    remedy: /use https, or set SERVER_RELAY_PLAIN_HTTP=on/,
  },
  'a key in place of the server id': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_ID: w.serverKey }),
    check: 'configuration',
    cause: /SERVER_RELAY_SERVER_ID looks like a secret, which is not shown/,
    remedy: /^Use a different value/,
  },
  'a key in place of the path of its file': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_KEY_FILE: w.serverKey }),
    check: 'configuration',
    cause: /SERVER_RELAY_SERVER_KEY_FILE looks like a secret, which is not shown/,
    remedy: /^Write the secret to a file of mode 0600/,
  },
  'a missing key file': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_KEY_FILE: join(w.world.dir, 'nothing.key') }),
    check: 'configuration',
    cause: /nothing.key \(SERVER_RELAY_SERVER_KEY_FILE\) cannot be read/,
    remedy: /no such file; check its path/,
  },
  'a key file that other users can read': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_KEY_FILE: w.file('open.key', w.serverKey, 0o644) }),
    check: 'configuration',
    cause: /has mode 0644, which lets others use it/,
    remedy: /^Run chmod 600 /,
  },
  'a folder in place of the key file': {
    breaks: (w) => {
      mkdirSync(join(w.world.dir, 'folder.key'));
      return { SERVER_RELAY_SERVER_KEY_FILE: join(w.world.dir, 'folder.key') };
    },
    check: 'configuration',
    cause: /is a folder/,
    remedy: /^Name a file/,
  },
  'a key file that contains only the label': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_KEY_FILE: w.file('label.key', 'server key\n') }),
    check: 'configuration',
    cause: /contains no key/,
    remedy: /^Write only the key into it/,
  },
  'a CA file without a certificate': {
    breaks: (w) => ({ SERVER_RELAY_CA_FILE: w.file('ca.pem', 'nothing') }),
    check: 'configuration',
    cause: /^SERVER_RELAY_CA_FILE: the file .* contains no PEM certificate/,
    remedy: /^Use one that begins with/,
  },
  'a missing key file of the database': {
    breaks: (w) => {
      rmSync(w.ownKeyFile());
      return 'none' as const;
    },
    mends: (w) => w.file('waxwing-server.key', w.ownKey),
    check: 'configuration',
    cause: /waxwing-server.key \(SERVER_KEY_FILE\) cannot be read/,
    remedy: /no such file; check its path/,
  },
  'a wrong key in the key file of the database': {
    breaks: (w) => {
      w.file('waxwing-server.key', randomBytes(32).toString('hex'));
      return 'none' as const;
    },
    mends: (w) => w.file('waxwing-server.key', w.ownKey),
    check: 'configuration',
    cause: /cannot be decrypted/,
    remedy: /^Restore SERVER_KEY_FILE from a backup/,
  },
  'a key file of the database that other users can read': {
    breaks: (w) => {
      chmodSync(w.ownKeyFile(), 0o644);
      return 'none' as const;
    },
    mends: (w) => chmodSync(w.ownKeyFile(), 0o600),
    check: 'configuration',
    cause: /SERVER_KEY_FILE\) has mode 0644/,
    remedy: /^Run chmod 600 /,
  },
  'push disabled': {
    breaks: async (w) => {
      await w.world.run(['push', 'disable', '--yes']);
      return 'none' as const;
    },
    mends: (w) => w.world.run(['push', 'enable', '--relay', w.world.relayUrl]),
    check: 'configuration',
    cause: /^Push was disabled/,
    remedy: /^Run waxwing-server push enable/,
  },
};
