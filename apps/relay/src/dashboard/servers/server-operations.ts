import { administrator, refuseAct, writingAdministrator } from '@waxwing/service/dashboard';
import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import { recording } from '../../acts/record-act.js';
import { readHostname } from '../../servers/joining/hostname.js';
import { createInvitation } from '../../servers/joining/invitations.js';
import { resumeServer, suspendServer } from '../../servers/manage-servers.js';
import { type ServerSummary, summarizeServers } from '../../servers/server-summaries.js';
import { totalOf } from '../../servers/total-of-devices.js';
import { actor } from '../actor.js';
import type { DashboardContext } from '../dashboard-context.js';
import { limitParameter, positionParameter, readPosition, writePosition } from '../pages.js';
import { storableText } from '../storable-text.js';

const path = '/admin/api/servers';
const invitationMilliseconds = 7 * 24 * 60 * 60_000;
const count = z.number().int();
const state = z.enum(['active', 'suspended', 'deactivated']);
const serverIds = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const uuidParameter = z.string().regex(serverIds, 'must be a UUID').toLowerCase();

const listedServer = z.object({
  uuid: z.string(),
  name: z.string(),
  hostname: z.string().nullable(),
  state,
  last_seen_at: count.nullable(),
  devices: count,
  quota: z.object({ used: count, limit: count }),
  delivered_day: count,
  rejected_day: count,
});

/**
 * Returns the servers, oldest first, as `servers list` does. `search` matches part of the id, name, hostname or
 * contact.
 */
export const listServers = operation({
  method: 'GET',
  path,
  summary: 'Lists registered servers.',
  actor: administrator,
  parameters: z.object({
    search: z.string().max(200).optional(),
    after: positionParameter,
    limit: limitParameter,
  }),
  answer: z.object({ servers: z.array(listedServer), next: z.string().optional() }),
  codes: [],
  async handle({ relay, deliveries }: DashboardContext, { parameters: { search, after, limit } }) {
    const { database, clock } = relay;
    const found: ServerSummary[] = [];
    // Reads one more server than it shows, to know whether there is a next page.
    const filter = { text: search, limit: limit + 1, after: readPosition(after, serverIds) };
    for await (const some of summarizeServers(database, clock(), filter)) found.push(...some);
    const servers = found.slice(0, limit);
    const last = found.length > limit ? servers.at(-1) : undefined;
    const shown = servers.map((server) => describeServer(server, deliveries.notificationsPerMinute));
    if (last === undefined) return { servers: shown };
    return { servers: shown, next: writePosition({ at: last.createdAt, id: last.serverId }) };
  },
});

/** Suspends a server, as `servers suspend` does. */
export const suspendOneServer = operation({
  method: 'POST',
  path: `${path}/{uuid}/suspend`,
  summary: 'Suspends a server; its realms and devices stay.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ uuid: uuidParameter }),
  answer: z.object({ state, changed: z.boolean() }),
  codes: ['BAD_REQUEST'],
  handle: ({ relay: { database, clock } }: DashboardContext, { parameters: { uuid } }) =>
    refuseAct(async () => {
      const act = { actor, action: 'servers suspend', subject: uuid, at: clock() } as const;
      return {
        state: 'suspended' as const,
        changed: await suspendServer(recording(database, act), uuid, act.at),
      };
    }),
});

/** Resumes a suspended server, as `servers resume` does. */
export const resumeOneServer = operation({
  method: 'POST',
  path: `${path}/{uuid}/resume`,
  summary: 'Resumes a suspended server.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ uuid: uuidParameter }),
  answer: z.object({ state, changed: z.boolean() }),
  codes: ['BAD_REQUEST'],
  handle: ({ relay: { database, clock } }: DashboardContext, { parameters: { uuid } }) =>
    refuseAct(async () => {
      const act = { actor, action: 'servers resume', subject: uuid, at: clock() } as const;
      return { state: 'active' as const, changed: await resumeServer(recording(database, act), uuid) };
    }),
});

/** Creates a seven-day invitation for one server, as `servers invite` does. Returns its code only once. */
export const inviteServer = operation({
  method: 'POST',
  path: `${path}/invitations`,
  summary: 'Creates an invitation code for one new server; returns the code only once.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({
    hostname: storableText.max(255).optional(),
    name: storableText.max(200).default(''),
  }),
  answer: z.object({ code: z.string(), expires_at: count }),
  codes: ['BAD_REQUEST'],
  async handle({ relay: { database, clock } }: DashboardContext, { parameters: { hostname: host, name } }) {
    const now = clock();
    const hostname = host === undefined || host === '' ? undefined : readHostname(host);
    const expiresAt = now + invitationMilliseconds;
    const act = { actor, action: 'servers invite', subject: hostname ?? name, at: now } as const;
    const code = await createInvitation(recording(database, act), { name, hostname, expiresAt }, now);
    return { code: code.reveal(), expires_at: expiresAt };
  },
});

function describeServer(server: ServerSummary, limit: number): z.infer<typeof listedServer> {
  const { devices, hostname, lastDay, lastSeenAt, name, quotaUsed, serverId } = server;
  return {
    uuid: serverId,
    name,
    hostname: hostname ?? null,
    state: server.state,
    last_seen_at: lastSeenAt ?? null,
    devices: totalOf(devices),
    quota: { used: Math.round(quotaUsed * limit), limit },
    delivered_day: lastDay.sent,
    rejected_day: lastDay.rejected,
  };
}
