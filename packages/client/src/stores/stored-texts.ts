import { exclusively } from '../mutex.js';

/**
 * Text storage by name, compatible with `localStorage`, React Native's AsyncStorage and MMKV. The accounts contain
 * private keys: on a phone, use a storage that encrypts with a system key (Keychain, Keystore).
 */
export interface TextStorage {
  /** Resolves to the text, or to `null` or `undefined` if there is no text with this name. */
  getItem(name: string): string | null | undefined | Promise<string | null | undefined>;
  setItem(name: string, text: string): void | Promise<void>;
  removeItem(name: string): void | Promise<void>;
}

/** Checks a text storage. @throws RangeError for any other object, such as one without `getItem`. */
export function requireTextStorage(storage: unknown): void {
  const given = Object(storage) as Readonly<Record<string, unknown>>;
  if (['getItem', 'setItem', 'removeItem'].some((name) => typeof given[name] !== 'function')) {
    throw new RangeError(
      'storage must have the methods getItem, setItem and removeItem: wrap a storage whose methods have other names.',
    );
  }
}

/** The texts in one storage, with a record of the damaged texts. */
export interface StoredTexts {
  /** Returns the text, or `undefined` if it is missing or empty. */
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Records that a text could not be decoded, in whole or in part. Has no effect if that text is already recorded. */
  noteDamage(name: string, text: string): void;
  /** Returns whether the text was damaged when last read and has not been replaced since then. */
  isDamaged(name: string): boolean;
  /** Returns one sentence for each text found to be damaged since the last call, or `undefined` if there are none. */
  takeWarning(): string | undefined;
}

export function createStoredTexts(storage: TextStorage): StoredTexts {
  const damaged = new Map<string, string>();
  const warnings: string[] = [];
  return {
    async read(name) {
      const text: unknown = await storage.getItem(name);
      return typeof text === 'string' && text !== '' ? text : undefined;
    },
    async write(name, text) {
      await storage.setItem(name, text);
      damaged.delete(name);
    },
    async remove(name) {
      await storage.removeItem(name);
      damaged.delete(name);
    },
    isDamaged: (name) => damaged.has(name),
    noteDamage(name, text) {
      if (damaged.get(name) === text) return;
      damaged.set(name, text);
      warnings.push(
        `The stored text "${name}" is damaged: its unreadable parts are dropped and created again. If this happens again, check that the app's storage returns each text unchanged.`,
      );
    },
    takeWarning() {
      return warnings.splice(0).join(' ') || undefined;
    },
  };
}

/**
 * Serializes changes to stored texts across all stores in this process and, in browsers with Web Locks, across tabs and
 * workers. Without this, one of two concurrent changes would be lost.
 */
export function changeTexts<T>(task: () => Promise<T>): Promise<T> {
  return exclusively('waxwing.stores', task);
}
