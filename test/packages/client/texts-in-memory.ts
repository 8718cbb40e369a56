import type { TextStorage } from '@waxwing/client';

/** A storage such as `localStorage`. */
export class TextsInMemory implements TextStorage {
  readonly texts = new Map<string, string>();

  getItem(name: string): string | null {
    return this.texts.get(name) ?? null;
  }

  setItem(name: string, text: string): void {
    this.texts.set(name, text);
  }

  removeItem(name: string): void {
    this.texts.delete(name);
  }
}
