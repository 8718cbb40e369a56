import { resolve } from 'node:path';
import type { KeyRingLocation } from './key-ring-configuration.js';
import { keyRingFile } from './key-ring-file.js';
import { keyRingRow } from './key-ring-row.js';
import type { KeyRingStore } from './key-ring-store.js';
import type { KeyRingDatabase } from './key-ring-tables.js';

const copySuffix = '-moved';

/** Returns the store of a configured location. */
export function keyRingStore(location: KeyRingLocation, database: KeyRingDatabase): KeyRingStore {
  return location.kind === 'file' ? keyRingFile(location.path) : keyRingRow(database);
}

/** Returns the store where `keys move` keeps the copy of a moved ring. */
export function movedKeyRingStore(location: KeyRingLocation, database: KeyRingDatabase): KeyRingStore {
  return location.kind === 'file'
    ? keyRingFile(`${location.path}${copySuffix}`)
    : keyRingRow(database, `relay${copySuffix}`);
}

/** Returns the value of RELAY_KEY_RING for a location. */
export function settingOf(location: KeyRingLocation): string {
  return location.kind === 'file' ? resolve(location.path) : 'database';
}

/** Formats the marker that replaces a moved ring, for processes that still use the old location. */
export function formatMoveMark(setting: string): string {
  return `moved to ${setting}\n`;
}

/** Parses a move marker. Returns the setting of the new location, or `undefined` for any other string. */
export function parseMoveMark(stored: string): string | undefined {
  return /^moved to (.+)\n$/.exec(stored)?.[1];
}
