import type {
  ChannelId,
  GroupId,
  MessageId,
  PushAccountIdText,
  RelayDeviceId,
  UserId,
} from '@waxwing/protocol';
import type { RealmId } from '#relay/servers/server-tables.js';

/** Casts made-up numbers and strings to branded ids. */
export const userId = (number: number): UserId => number as UserId;
export const groupId = (number: number): GroupId => number as GroupId;
export const channelId = (number: number): ChannelId => number as ChannelId;
export const messageId = (number: number): MessageId => number as MessageId;
export const accountIdText = (id: number | string): PushAccountIdText => String(id) as PushAccountIdText;
export const relayDeviceId = (number: number): RelayDeviceId => number as RelayDeviceId;
export const realmId = (number: number): RealmId => number as RealmId;
