import { resolve } from 'node:path';
import type { KeyRingPlace } from './key-ring-configuration.js';
import { keyRingFile } from './key-ring-file.js';
import { keyRingRow } from './key-ring-row.js';
import type { KeyRingStore } from './key-ring-store.js';
import type { KeyRingDatabase } from './key-ring-tables.js';

const copySuffix = '-moved';

/** Where the ring of a place rests. */
export function keyRingStore(place: KeyRingPlace, database: KeyRingDatabase): KeyRingStore {
  return place.kind === 'file' ? keyRingFile(place.path) : keyRingRow(database);
}

/** Where `keys move` keeps the ring that it has taken away from a place. */
export function movedKeyRingStore(place: KeyRingPlace, database: KeyRingDatabase): KeyRingStore {
  return place.kind === 'file'
    ? keyRingFile(`${place.path}${copySuffix}`)
    : keyRingRow(database, `relay${copySuffix}`);
}

/** What RELAY_KEY_RING has to be for a place. */
export function settingOf(place: KeyRingPlace): string {
  return place.kind === 'file' ? resolve(place.path) : 'database';
}

/** What stands in the place of a ring that was moved to another one, for whoever still looks for it there. */
export function formatMoveMark(setting: string): string {
  return `moved to ${setting}\n`;
}

/** The setting of the place that the ring was moved to; `undefined` for any other text. */
export function parseMoveMark(stored: string): string | undefined {
  return /^moved to (.+)\n$/.exec(stored)?.[1];
}
