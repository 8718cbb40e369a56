import { allPushJobKinds } from '@waxwing/server-push';
import { readArchivedChannelJob } from './conversations/messages/flags/read-archived-channel.js';
import { readLeftChannelsJob } from './conversations/messages/flags/read-left-channels.js';
import {
  forgetLeftChannelsJob,
  notifyOfMessageJob,
  removeNotificationsJob,
} from './conversations/messages/push/message-jobs.js';

const messageJobs = [
  forgetLeftChannelsJob,
  notifyOfMessageJob,
  readArchivedChannelJob,
  readLeftChannelsJob,
  removeNotificationsJob,
];

/** Kinds of the server's jobs, without scheduled jobs. */
export const serverJobKinds: readonly string[] = [...messageJobs.map(({ kind }) => kind), ...allPushJobKinds];
