import type { ExpoConfig } from 'expo/config';

/** Replace these two values with your own. */
const appId = 'com.example.chat';
const appleTeamId = 'ABCDE12345';

const config: ExpoConfig = {
  name: 'Chat',
  slug: 'chat',
  version: '1.0.0',
  ios: { bundleIdentifier: appId, appleTeamId },
  android: { package: appId, googleServicesFile: './google-services.json' },
  plugins: ['expo-secure-store', 'expo-notifications', '@waxwing/client'],
  // The keychain group that the app and the extension share. Xcode writes `$(AppIdentifierPrefix)` for the team id.
  extra: { keychainGroup: `${appleTeamId}.${appId}.push` },
};

export default config;
