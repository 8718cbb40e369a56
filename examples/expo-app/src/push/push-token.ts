import type { PushToken } from '@waxwing/client';
import * as Application from 'expo-application';
import * as Notifications from 'expo-notifications';
import { DeviceEventEmitter, Platform } from 'react-native';

let newest: string | undefined;

/** Returns the system's push token, or `undefined` before the user has allowed notifications. */
export async function readPushToken(): Promise<PushToken | undefined> {
  const { granted } = await Notifications.getPermissionsAsync();
  if (!granted) return undefined;
  const token = String((await Notifications.getDevicePushTokenAsync()).data);
  newest = token;
  if (Platform.OS === 'android') return { tokenKind: 'fcm', token };
  const environment = await Application.getIosPushNotificationServiceEnvironmentAsync();
  return {
    tokenKind: 'apns',
    token,
    iosAppId: Application.applicationId ?? '',
    apnsEnvironment: environment === 'development' ? 'sandbox' : 'production',
  };
}

/** Calls `onNewToken` when the system has replaced the token. Returns a function that stops this. */
export function listenForNewToken(onNewToken: () => void): () => void {
  const subscription =
    Platform.OS === 'android'
      ? DeviceEventEmitter.addListener('waxwing.token', onNewToken)
      : Notifications.addPushTokenListener(({ data }) => {
          // expo-notifications also reports each token that readPushToken has read.
          if (data !== newest) onNewToken();
        });
  return () => subscription.remove();
}
