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

/** The kinds of queued jobs on this server. Scheduled jobs are not included. */
export const serverJobKinds: readonly string[] = [...messageJobs.map(({ kind }) => kind), ...allPushJobKinds];
