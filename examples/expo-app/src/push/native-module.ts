import { NativeModules } from 'react-native';
import type { SharedKeys } from './share-keys';

/** The client's module for Android, which the config plugin adds. */
interface WaxwingPush extends SharedKeys {
  takeTaps(): Promise<readonly string[]>;
}

/** The Android module. iOS has no such module, so its first use there throws a TypeError. */
export const waxwingPush = NativeModules.WaxwingPush as WaxwingPush;
