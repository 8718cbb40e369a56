import type { TextStorage } from '@waxwing/client';
import { getRandomBytes } from 'expo-crypto';
import * as SecureStore from 'expo-secure-store';
import { createMMKV, deleteMMKV } from 'react-native-mmkv';

const id = 'chat';
const keyName = 'storage-key';
/** Readable in the background while the phone is locked, and not part of a backup. */
const options = { keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY };

/**
 * Opens storage that is encrypted with a key in the keychain. The keychain limits the size of a text; MMKV does not. A
 * phone that was restored from a backup has the file without its key, and starts empty. Otherwise, two phones would
 * have the same accounts.
 */
export async function openStorage(): Promise<TextStorage> {
  const stored = await SecureStore.getItemAsync(keyName, options);
  const encryptionKey = stored ?? newKey();
  if (stored === null) {
    deleteMMKV(id);
    await SecureStore.setItemAsync(keyName, encryptionKey, options);
  }
  const texts = createMMKV({ id, encryptionKey, encryptionType: 'AES-256' });
  return {
    getItem: (name) => texts.getString(name) ?? null,
    setItem: (name, text) => texts.set(name, text),
    removeItem: (name) => {
      texts.remove(name);
    },
  };
}

/** Generates a key for MMKV, which expects 32 bytes of text: 24 random bytes in base64. */
function newKey(): string {
  return btoa(String.fromCharCode(...getRandomBytes(24)));
}
