import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

const state: Signal<string> = signal(readRoute());

/** Name of the open page from the URL's fragment, such as `keys` for `#/keys`; empty without a fragment. */
export const route: ReadonlySignal<string> = state;

export function linkTo(page: string): string {
  return `#/${page}`;
}

function readRoute(): string {
  return location.hash.replace(/^#\//, '');
}

addEventListener('hashchange', () => {
  // Other fragments are links within a page, such as the skip link.
  if (location.hash.startsWith('#/')) state.value = readRoute();
});
