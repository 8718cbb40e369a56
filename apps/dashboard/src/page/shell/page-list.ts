import type { FunctionComponent } from 'preact';
import type { Resource } from '../api/resource.js';

/** Number of items on a page that need attention, such as dead letters. */
export interface Attention {
  readonly number: number;
  readonly meaning: string;
}

/** A page, which the fragment of the address names. */
export interface PageEntry {
  readonly title: string;
  readonly View: FunctionComponent;
  /** Read from the last overview. */
  readonly attention?: () => Attention | undefined;
}

/** The pages by their name in the address, of which the first one is the start page, and the overview that events update. */
export interface PageList {
  readonly pages: Readonly<Record<string, PageEntry>>;
  readonly overview: Pick<Resource<{ readonly now: number }>, 'set'>;
}

type CheckedOverview = Pick<Resource<{ readonly checks: readonly { readonly ok: boolean }[] }>, 'state'>;

/** Number of checks of the last overview that fail. */
export function failedChecks({ state }: CheckedOverview): Attention | undefined {
  if (state.value.kind !== 'ready') return undefined;
  return { number: state.value.answer.checks.filter(({ ok }) => !ok).length, meaning: 'wrong now' };
}
