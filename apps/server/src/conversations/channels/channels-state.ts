import { encodePages } from '@waxwing/service/http';
import { z } from 'zod';
import { roles } from '../../platform/authentication/roles.js';
import { initialState } from '../../platform/event-queues/initial-state.js';
import { channelRecord } from './channel-record.js';
import { findSpectatorChannels } from './channel-store.js';
import { compareNames } from './compare-names.js';
import { defaultChannelIds } from './default-channels.js';
import { folderRecord, listFolders, writeFolder } from './folders/folder-store.js';
import { readKnownChannels } from './known-channels.js';
import { channelRecordPages } from './read-channel-records.js';

/** All channels that the user can see. */
export const channelsState = initialState({
  eventType: 'stream',
  shape: z.object({ streams: z.array(channelRecord) }),
  async fetch({ clock, database: { db } }, actor, { capabilities }) {
    const includesArchived = capabilities.includes('archived_channels');
    const channels = (await readKnownChannels(db, actor))
      .map(({ channel }) => channel)
      .filter(({ isArchived }) => includesArchived || !isArchived)
      .sort(compareNames);
    return { streams: await encodePages(channelRecordPages(db, channels, clock())) };
  },
  async fetchForSpectator({ clock, database: { db } }) {
    const channels = (await findSpectatorChannels(db)).sort(compareNames);
    return { streams: await encodePages(channelRecordPages(db, channels, clock())) };
  },
});

/** All folders. For unauthenticated clients, only folders of channels that they can see. */
export const foldersState = initialState({
  eventType: 'channel_folders',
  shape: z.object({ channel_folders: z.array(folderRecord) }),
  fetch: async ({ database: { db } }) => ({ channel_folders: (await listFolders(db)).map(writeFolder) }),
  async fetchForSpectator({ database: { db } }) {
    const known = new Set((await findSpectatorChannels(db)).map(({ folderId }) => folderId));
    const folders = (await listFolders(db)).filter(({ id }) => known.has(id));
    return { channel_folders: folders.map(writeFolder) };
  },
});

/** The channels that new users are subscribed to. Empty for guests. */
export const defaultChannelsState = initialState({
  eventType: 'default_streams',
  shape: z.object({ realm_default_streams: z.array(z.number().int()) }),
  fetch: async ({ database: { db } }, { role }) => ({
    realm_default_streams: role === roles.guest ? [] : await defaultChannelIds(db),
  }),
});
