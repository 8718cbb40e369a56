import { NativeModules } from 'react-native';
import type { SharedKeys } from './share-keys';

/** The client's module for Android, which the config plugin adds. */
interface WaxwingPush extends SharedKeys {
  takeTaps(): Promise<readonly string[]>;
}

/** @throws TypeError at its first use on iOS, which does not have it. */
export const waxwingPush = NativeModules.WaxwingPush as WaxwingPush;
