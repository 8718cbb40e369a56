import { exportForExtension } from '@waxwing/client';
import * as Notifications from 'expo-notifications';
import { defineTask } from 'expo-task-manager';
import { Platform } from 'react-native';
import { startPhone } from './phone';
import { ownerOf } from './share-keys';
import { notificationNameOf } from './taps';

const task = 'waxwing.removals';

/**
 * Hides messages that were read elsewhere. On iOS a removal is a push without an alert, which starts the app in the
 * background but not the extension. On Android the messaging service does this.
 */
defineTask<Notifications.NotificationTaskPayload>(task, async ({ data }) => {
  if (!('data' in data)) return Notifications.BackgroundNotificationTaskResult.NoData;
  const { client, accounts } = await startPhone();
  const opened = await client.open(data.data as Record<string, unknown>);
  if (opened.kind === 'ignored' || opened.notification.type !== 'remove')
    return Notifications.BackgroundNotificationTaskResult.NoData;
  const { message_ids: messageIds } = opened.notification;
  const { pushAccountId } = opened.account;
  const row = (await accounts.list()).find((account) => account.pushAccountId === pushAccountId);
  if (row === undefined) return Notifications.BackgroundNotificationTaskResult.NoData;
  const owner = ownerOf(exportForExtension(row));
  const names = messageIds.map((id) => `${owner} ${id}`);
  for (const shown of await Notifications.getPresentedNotificationsAsync()) {
    const isRemoved = names.includes(String(notificationNameOf(shown)));
    if (isRemoved) await Notifications.dismissNotificationAsync(shown.request.identifier);
  }
  return Notifications.BackgroundNotificationTaskResult.NewData;
});

if (Platform.OS === 'ios') void Notifications.registerTaskAsync(task);
