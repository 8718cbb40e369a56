import type { SignedInAccount } from '@waxwing/client';
import * as Notifications from 'expo-notifications';
import { useCallback, useEffect, useState } from 'react';
import { Button, Platform, Text, View } from 'react-native';
import { listenForNewToken } from './push/push-token';
import { type Session, startSession } from './push/session';
import { listenForTaps } from './push/taps';
import { SignInForm } from './SignInForm';
import { forgetAccount, readAccount } from './sign-in';

// On iOS, also show notifications while the app is open. On Android the messaging service does this.
Notifications.setNotificationHandler({
  handleNotification: async () => ({
    shouldShowBanner: true,
    shouldShowList: true,
    shouldPlaySound: true,
    shouldSetBadge: false,
  }),
});

/** Asks for the user's permission. On Android, also creates the notification channel of the messaging service. */
async function allowNotifications(): Promise<void> {
  if (Platform.OS === 'android') {
    const importance = Notifications.AndroidImportance.HIGH;
    await Notifications.setNotificationChannelAsync('messages', { name: 'Messages', importance });
  }
  await Notifications.requestPermissionsAsync();
}

export function App() {
  const [account, setAccount] = useState<SignedInAccount>();
  const [session, setSession] = useState<Session>();
  const [status, setStatus] = useState('');
  const [tapped, setTapped] = useState('');
  const attempt = useCallback((work: () => Promise<string | undefined>) => {
    work().then(
      (sentence) => setStatus(sentence ?? ''),
      (error: unknown) => setStatus(String(error)),
    );
  }, []);

  useEffect(() => {
    attempt(async () => {
      setAccount(await readAccount());
      return undefined;
    });
  }, [attempt]);
  useEffect(() => listenForTaps((shown) => setTapped(JSON.stringify(shown))), []);
  useEffect(() => {
    if (account === undefined) return undefined;
    attempt(async () => {
      await allowNotifications();
      setSession(await startSession(account));
      return undefined;
    });
    return () => setSession(undefined);
  }, [account, attempt]);
  useEffect(() => {
    if (session === undefined) return undefined;
    // Syncs at each start, because the token may have been replaced while the app was not running.
    attempt(() => session.sync());
    return listenForNewToken(() => attempt(() => session.sync()));
  }, [session, attempt]);

  const signOut = async (from: Session) => {
    await from.signOut();
    await forgetAccount();
    setAccount(undefined);
    return undefined;
  };
  return (
    <View style={{ flex: 1, justifyContent: 'center', padding: 24, gap: 12 }}>
      {account === undefined && <SignInForm onSignIn={setAccount} onError={setStatus} />}
      {session !== undefined && (
        <>
          <Button
            title="Send a test notification"
            onPress={() => attempt(() => session.sendTestNotification().then(() => 'Sent.'))}
          />
          <Button title="Sign out" onPress={() => attempt(() => signOut(session))} />
        </>
      )}
      <Text>{status}</Text>
      <Text>{tapped === '' ? '' : `Tapped: ${tapped}`}</Text>
    </View>
  );
}
