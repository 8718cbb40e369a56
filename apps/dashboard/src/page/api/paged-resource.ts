import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { Resource, sentenceOf } from './resource.js';

/** One page of a list, and the cursor of the next page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | undefined;
  /** Length of the whole list, if the relay reports it. */
  readonly total?: number;
}

/** A paginated list. Appends further pages to the shown entries. */
export class PagedResource<Item> {
  readonly resource: Resource<Page<Item>>;
  readonly #more: Signal<'idle' | 'loading' | { readonly error: string }> = signal('idle');
  readonly #fetch: (after: string | undefined, signal?: AbortSignal) => Promise<Page<Item>>;

  constructor(fetch: (after: string | undefined, signal?: AbortSignal) => Promise<Page<Item>>) {
    this.#fetch = fetch;
    this.resource = new Resource((abort) => fetch(undefined, abort));
  }

  get more(): ReadonlySignal<'idle' | 'loading' | { readonly error: string }> {
    return this.#more;
  }

  load(): Promise<void> {
    this.#more.value = 'idle';
    return this.resource.load();
  }

  async loadMore(): Promise<void> {
    const shown = this.resource.state.value;
    if (shown.kind !== 'ready' || shown.answer.next === undefined || this.#more.value === 'loading') return;
    this.#more.value = 'loading';
    try {
      const page = await this.#fetch(shown.answer.next);
      // The list was reloaded in the meantime, so this page is stale.
      if (this.resource.state.value !== shown) return;
      this.resource.set({ ...page, items: [...shown.answer.items, ...page.items] });
      this.#more.value = 'idle';
    } catch (error) {
      this.#more.value = { error: sentenceOf(error) };
    }
  }
}

/** Returns a query string, such as `?after=17&limit=50`. Omits empty values. */
export function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}
