import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

const state: Signal<string> = signal(readRoute());

/** The page that the fragment of the address names, such as `keys` for `#/keys`; empty without one. */
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
