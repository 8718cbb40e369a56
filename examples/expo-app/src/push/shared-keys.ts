import Constants from 'expo-constants';
import * as SecureStore from 'expo-secure-store';
import { Platform } from 'react-native';
import { waxwingPush } from './native-module';
import type { SharedKeys } from './share-keys';

/** The extension reads every item in this keychain group whose service begins with `waxwing.push.`. */
const keychain: SharedKeys = {
  put: (owner, text) => SecureStore.setItemAsync('account', text, optionsFor(owner)),
  remove: (owner) => SecureStore.deleteItemAsync('account', optionsFor(owner)),
};

function optionsFor(owner: string): SecureStore.SecureStoreOptions {
  return {
    keychainService: `waxwing.push.${owner}`,
    accessGroup: String(Constants.expoConfig?.extra?.keychainGroup),
    // The extension needs the keys while the phone is locked, because notifications arrive then too.
    keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY,
  };
}

export const sharedKeys: SharedKeys = Platform.OS === 'ios' ? keychain : waxwingPush;
