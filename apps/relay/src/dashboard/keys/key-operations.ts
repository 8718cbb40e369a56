import { administrator, refuseAct, writingAdministrator } from '@waxwing/service/dashboard';
import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import {
  judgeRetirement,
  readRingOverview,
  ringChanges,
} from '../../keyring/administration/ring-overview.js';
import type { DashboardContext } from '../dashboard-context.js';
import { storableText } from '../storable-text.js';

const path = '/admin/api/keys';
const instant = z.number().int();
/** The id of a key: 12 hexadecimal digits. */
const keyParameter = z.string().regex(/^[0-9a-f]{12}$/, 'must be the id of a key');
const maximumReasonCharacters = 200;

const keysAnswer = z.object({
  now: instant,
  list_expires_at: instant.nullable(),
  signing_key: z.object({ fingerprint: z.string(), since: instant }),
  recovery_key: z.object({ fingerprint: z.string() }).nullable(),
  keys: z.array(
    z.object({
      id: z.string(),
      state: z.enum(['primary', 'open', 'retired', 'revoked']),
      created_at: instant,
      primary_from: instant.nullable(),
      open_until: instant.nullable(),
      retired_at: instant.nullable(),
      use_per_day: z.array(z.object({ day: z.string(), registrations: z.number().int() })),
    }),
  ),
});

/** Returns the key ring without private keys: the state, dates and use of each key. */
export const showKeys = operation({
  method: 'GET',
  path,
  summary: 'Lists the keys of the key ring, with states, dates and use.',
  actor: administrator,
  parameters: noParameters,
  answer: keysAnswer,
  codes: ['BAD_REQUEST'],
  handle: ({ admin }: DashboardContext) => refuseAct(() => readRingOverview(admin)),
});

/** Creates a new primary key, as `keys rotate` does. */
export const rotateRing = operation({
  method: 'POST',
  path: `${path}/rotate`,
  summary: 'Creates a new primary key; the old key is still accepted.',
  actor: writingAdministrator,
  body: 'json',
  parameters: noParameters,
  answer: keysAnswer,
  codes: ['BAD_REQUEST'],
  handle: ({ admin }: DashboardContext) =>
    refuseAct(async () => {
      await ringChanges(admin).rotate();
      return readRingOverview(admin);
    }),
});

/** Returns whether a key can be retired safely now. */
export const showRetirement = operation({
  method: 'GET',
  path: `${path}/{id}/retirement`,
  summary: 'Returns whether phones still use the key.',
  actor: administrator,
  parameters: z.object({ id: keyParameter }),
  answer: z.object({ safe: z.boolean(), explanation: z.string() }),
  codes: ['BAD_REQUEST'],
  handle: ({ admin }: DashboardContext, { parameters: { id } }) =>
    refuseAct(() => judgeRetirement(admin, id)),
});

/** Retires a key, as `keys retire` does. HTTP 409 while phones use it, unless `force` is set. */
export const retireRingKey = operation({
  method: 'POST',
  path: `${path}/{id}/retire`,
  summary: 'Retires an accepted key and destroys its private half.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ id: keyParameter, force: z.boolean().default(false) }),
  answer: keysAnswer,
  codes: ['BAD_REQUEST'],
  handle: ({ admin }: DashboardContext, { parameters: { id, force } }) =>
    refuseAct(async () => {
      await ringChanges(admin).retire(id, force);
      return readRingOverview(admin);
    }),
});

/** Revokes a key whose private half may have been stolen, as `keys revoke` does. */
export const revokeRingKey = operation({
  method: 'POST',
  path: `${path}/{id}/revoke`,
  summary: 'Revokes a key whose private half may have been stolen.',
  actor: writingAdministrator,
  body: 'json',
  parameters: z.object({ id: keyParameter, reason: storableText.trim().min(1).max(maximumReasonCharacters) }),
  answer: keysAnswer,
  codes: ['BAD_REQUEST'],
  handle: ({ admin }: DashboardContext, { parameters: { id, reason } }) =>
    refuseAct(async () => {
      await ringChanges(admin).revoke(id, reason);
      return readRingOverview(admin);
    }),
});
