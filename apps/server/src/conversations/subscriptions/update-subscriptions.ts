import { type ChannelId, refused, type UserId } from '@waxwing/protocol';
import { jsonParameter, noAnswer, operation } from '@waxwing/service/http';
import { amongNumbers, lockingRows } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import { possibleId } from '../../people/permissions/id-lists.js';
import { user } from '../../platform/authentication/authenticate.js';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTransaction } from '../../tables.js';
import {
  type InheritedName,
  type InheritedNotifications,
  readInherited,
} from '../channels/inherited-notifications.js';
import { colorShape } from './subscription-color.js';

const streamId = possibleId.brand<'ChannelId'>();
const flag = z.boolean('must be true or false');
const inheritableNames = [
  'desktop_notifications',
  'audible_notifications',
  'push_notifications',
  'email_notifications',
  'wildcard_mentions_notify',
] as const;

const changeShape = z.discriminatedUnion(
  'property',
  [
    z.object({ stream_id: streamId, property: z.literal('color'), value: colorShape }),
    // `in_home_view` is the legacy, negated form of `is_muted`.
    z.object({
      stream_id: streamId,
      property: z.enum(['is_muted', 'in_home_view', 'pin_to_top']),
      value: flag,
    }),
    z.object({ stream_id: streamId, property: z.enum(inheritableNames), value: flag.nullable() }),
  ],
  'must name a property of a subscription',
);

type Change = z.output<typeof changeShape>;

/** A change as stored: the column's name and value. */
interface StoredChange {
  readonly channelId: ChannelId;
  readonly property: Exclude<Change['property'], 'in_home_view'>;
  readonly value: Change['value'];
}

/**
 * `POST /api/v1/users/me/subscriptions/properties`: changes properties of the user's subscriptions, such as colors.
 * Atomic. If a property is changed twice, the last change applies. Notifies the user's own clients. The value `null`
 * for a notification property means that the user's account-wide setting applies. Errors: BAD_REQUEST for unknown
 * properties and values, and for channels that the user is not subscribed to.
 */
export const updateSubscriptions = operation({
  method: 'POST',
  path: '/api/v1/users/me/subscriptions/properties',
  summary: "Updates properties of the requester's subscriptions.",
  actor: user,
  parameters: z.object({
    subscription_data: jsonParameter(
      z.array(changeShape, 'must be a list').max(1000, 'must have at most 1000 changes'),
    ),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle({ publish }: ServerContext, { actor, parameters }) {
    const changes = lastOfEach(parameters.subscription_data.map(toStored));
    await actor.change(async (transaction, { id: userId }) => {
      await lockSubscriptions(transaction, userId, changes);
      // One statement per property and value, for any number of channels.
      for (const same of groupedBy(changes, ({ property, value }) => `${property} ${value}`).values()) {
        await store(transaction, userId, same);
      }
      const inherited = (await readInherited(transaction.db, [userId]))(userId);
      await publish(
        transaction,
        changes.flatMap((change) => eventsOf(change, userId, inherited)),
      );
    });
    return {};
  },
});

function toStored({ stream_id: channelId, property, value }: Change): StoredChange {
  if (property === 'in_home_view') return { channelId, property: 'is_muted', value: !value };
  return { channelId, property, value };
}

/** Keeps only the last change of each property of each channel. */
function lastOfEach(changes: readonly StoredChange[]): StoredChange[] {
  const same = groupedBy(changes, ({ channelId, property }) => `${channelId} ${property}`);
  return [...same.values()].flatMap((each) => each.slice(-1));
}

/** Locks the changed rows in the same order as all other code. A different order could deadlock. */
async function lockSubscriptions(
  { db }: ServerTransaction,
  userId: UserId,
  changes: readonly StoredChange[],
): Promise<void> {
  const ids = changes.map(({ channelId }) => channelId);
  const rows = await db
    .selectFrom('subscriptions')
    .select('channel_id')
    .where('user_id', '=', userId)
    .where('is_active', '=', 1)
    .where('channel_id', 'in', amongNumbers(db, ids))
    .orderBy('channel_id')
    .modifyEnd(lockingRows(db))
    .execute();
  const known = new Set(rows.map(({ channel_id }) => channel_id));
  const other = ids.find((id) => !known.has(id));
  if (other !== undefined) throw refused(`Not subscribed to channel ID ${other}`);
}

async function store(
  { db }: ServerTransaction,
  userId: UserId,
  same: readonly StoredChange[],
): Promise<void> {
  const [first] = same;
  if (first === undefined) return;
  const { property, value } = first;
  const stored = typeof value === 'boolean' ? Number(value) : value;
  const ids = same.map(({ channelId }) => channelId);
  await db
    .updateTable('subscriptions')
    .set({ [property]: stored })
    .where('user_id', '=', userId)
    .where('channel_id', 'in', amongNumbers(db, ids))
    .execute();
}

function eventsOf(
  { channelId, property, value }: StoredChange,
  userId: UserId,
  inherited: InheritedNotifications,
): PublishedEvent[] {
  const event = (name: string, is: StoredChange['value']) => ({
    type: 'subscription',
    op: 'update',
    stream_id: channelId,
    property: name,
    value: is,
  });
  const audience = [userId];
  if (property === 'is_muted') {
    return [
      { event: event('is_muted', value), audience },
      { event: event('in_home_view', !value), audience },
    ];
  }
  if (value !== null) return [{ event: event(property, value), audience }];
  const variantFor: PublishedEvent['variantFor'] = (queue) => {
    const knowsNull = queue.can('notification_settings_null');
    const locked = knowsNull ? null : inherited[property as InheritedName];
    return { key: String(knowsNull), write: () => event(property, locked) };
  };
  return [{ event: { type: 'subscription' }, variantFor, audience }];
}
