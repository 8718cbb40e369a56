import type { TextStorage } from './stored-texts.js';

const texts = 'texts';

/**
 * Creates a text storage in IndexedDB, for web apps with a service worker. Workers have no `localStorage`, but a page
 * and its worker can both use IndexedDB. Pass the same name in both. The database is created on first use.
 */
export function createIndexedDbStorage(databaseName = 'waxwing'): TextStorage {
  let opened: Promise<IDBDatabase> | undefined;
  const forget = () => {
    opened = undefined;
  };
  async function database(): Promise<IDBDatabase> {
    opened ??= openDatabase(databaseName, forget);
    try {
      return await opened;
    } catch (error) {
      forget();
      throw error;
    }
  }
  async function write(change: (store: IDBObjectStore) => void): Promise<void> {
    // Must be durable before a notification is shown. Otherwise the notification could be shown again after a power
    // failure.
    const transaction = (await database()).transaction(texts, 'readwrite', { durability: 'strict' });
    change(transaction.objectStore(texts));
    return new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
  }
  return {
    async getItem(name) {
      const request = (await database()).transaction(texts).objectStore(texts).get(name);
      return resultOf<string | undefined>(request);
    },
    setItem: (name, text) => write((store) => store.put(text, name)),
    removeItem: (name) => write((store) => store.delete(name)),
  };
}

async function openDatabase(name: string, onClose: () => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(texts);
  const database = await resultOf<IDBDatabase>(request);
  database.onclose = onClose;
  // Otherwise, deleting the database (for example in an app's "Sign out everywhere") would hang until this tab is
  // closed.
  database.onversionchange = () => {
    database.close();
    onClose();
  };
  return database;
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
