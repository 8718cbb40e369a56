import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

export const pageTitles = {
  overview: 'Overview',
  keys: 'Keys',
  servers: 'Servers',
  apps: 'Apps',
  deliveries: 'Deliveries',
  audit: 'Audit log',
} as const;

export type PageName = keyof typeof pageTitles;

const pageNames = Object.keys(pageTitles) as PageName[];
const state: Signal<PageName> = signal(readRoute());

/** The page that the fragment of the address names, such as `#/keys`. */
export const route: ReadonlySignal<PageName> = state;

export function linkTo(page: PageName): string {
  return `#/${page}`;
}

function readRoute(): PageName {
  const named = location.hash.replace(/^#\//, '');
  return pageNames.find((name) => name === named) ?? 'overview';
}

addEventListener('hashchange', () => {
  // Other fragments are links within a page, such as the skip link.
  if (location.hash.startsWith('#/')) state.value = readRoute();
});
