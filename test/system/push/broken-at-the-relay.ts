import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { notified, type RelayReaction } from '../../support/relay-stand-in.js';
import type { Broken } from './broken-world.js';

/** Set-ups in which the relay refuses requests, or has problems with keys or clocks. */
export const atTheRelay: Readonly<Record<string, Broken>> = {
  'a wrong key': {
    breaks: (w) => ({ SERVER_RELAY_SERVER_KEY_FILE: w.file('wrong.key', randomBytes(32).toString('hex')) }),
    check: 'credentials',
    cause: /does not accept this server's id .* and its key/,
    remedy:
      /SERVER_RELAY_SERVER_KEY_FILE.* servers rotate-key [-0-9a-f]{36}, and write the key that it prints/,
  },
  'an id that belongs to no server': {
    breaks: () => ({ SERVER_RELAY_SERVER_ID: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836' }),
    check: 'credentials',
    cause: /9aa61d0b-8ce5-488d-8e9e-fedc346e6836/,
    remedy: /SERVER_RELAY_SERVER_ID/,
  },
  'a server that deactivated itself': {
    breaks: async (w) => {
      const authorization = `Basic ${btoa(`${w.serverId()}:${w.serverKey}`)}`;
      const headers = { authorization, 'content-type': 'application/json' };
      const url = `${w.world.relayUrl}/api/v1/remotes/server/deactivate`;
      const response = await fetch(url, { method: 'POST', headers, body: '{}' });
      if (!response.ok) throw new Error(await response.text());
      return {};
    },
    mends: (w) => w.world.operateJson(['servers', 'resume', w.serverId()]),
    check: 'server',
    cause: /^This server is deactivated at the relay/,
    remedy: /waxwing-relay servers resume/,
  },
  'a server that the operator suspended': {
    breaks: async (w) => {
      await w.world.operateJson(['servers', 'suspend', w.serverId(), '--yes']);
      return {};
    },
    mends: (w) => w.world.operateJson(['servers', 'resume', w.serverId()]),
    check: 'server',
    cause: /^This server is suspended at the relay/,
    remedy: /waxwing-relay servers resume/,
  },
  "another server's account": {
    breaks: (w) => w.otherServer(),
    check: 'realm',
    cause: /The organization .* belongs to another server at the relay/,
    remedy: /operator/,
  },
  'an organization that the relay does not know': {
    breaks: async (w) => {
      const settings = { SERVER_DATABASE: `sqlite:${join(w.world.dir, 'second.sqlite')}` };
      await w.world.run(['db', 'migrate'], settings);
      return settings;
    },
    check: 'realm',
    cause: /does not know the organization/,
    remedy: /^Ask the relay's operator for waxwing-relay servers add-realm/,
  },
  'an exhausted quota': {
    breaks: async (w) => {
      await w.world.stopRelay();
      await w.world.startRelay({ RELAY_SERVER_NOTIFICATIONS_PER_MINUTE: '1' });
      w.world.relay.context.quotas.take(w.serverId(), 1);
      return {};
    },
    mends: async (w) => {
      await w.world.stopRelay();
      await w.world.startRelay();
    },
    check: 'quota',
    cause: /quota at the relay is used up/,
    remedy: /RELAY_SERVER_NOTIFICATIONS_PER_MINUTE/,
  },
  'a clock that is an hour behind': {
    breaks: (w) => {
      w.world.ahead.server = -3_600_000;
      return {};
    },
    mends: (w) => {
      w.world.ahead.server = 0;
    },
    check: 'clock',
    cause: /clock is 3[56]\d\d s behind/,
    remedy: /NTP/,
  },
  'a clock that is an hour ahead': {
    breaks: (w) => {
      w.world.ahead.server = 3_600_000;
      return {};
    },
    mends: (w) => {
      w.world.ahead.server = 0;
    },
    check: 'clock',
    cause: /clock is 3[56]\d\d s ahead of/,
    remedy: /NTP/,
  },
  'a stale key list': {
    breaks: async (w) => {
      const keyList = { status: 200, body: await w.keyListOfRelay() };
      w.world.ahead.server = 400 * 86_400_000;
      const date = new Date(Date.now() + w.world.ahead.server).toUTCString();
      return w.answering({ ...(notified() as Exclude<RelayReaction, string>), headers: { date } }, keyList);
    },
    mends: (w) => {
      w.world.ahead.server = 0;
    },
    check: 'key list',
    cause: /has expired, so phones do not follow it/,
    remedy: /waxwing-relay keys verify/,
  },
  'a key list with a wrong signature': {
    breaks: async (w) => {
      const body = { ...(await w.keyListOfRelay()), signature: Buffer.alloc(64).toString('base64') };
      return w.answering(notified(), { status: 200, body });
    },
    check: 'key list',
    cause: /has an invalid signature/,
    remedy: /waxwing-relay keys verify/,
  },
  'a signing key other than the pinned one': {
    breaks: async (w) => {
      await w.pin(randomBytes(32).toString('base64'));
      return 'none' as const;
    },
    mends: async (w) => w.pin(String((await w.keyListOfRelay()).signing_public_key)),
    check: 'signing key',
    cause: /which has no chain of endorsements from the pinned key/,
    remedy: /^Ask the operator whether the key was replaced/,
  },
};
