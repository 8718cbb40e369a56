import type { FunctionComponent } from 'preact';
import type { Resource } from '../api/resource.js';

/** Number of items on a page that need attention, such as dead letters. */
export interface Attention {
  readonly number: number;
  readonly meaning: string;
}

/** A page of the dashboard. The URL's fragment names the open page. */
export interface PageEntry {
  readonly title: string;
  readonly View: FunctionComponent;
  /** Returns the number of items that need attention on the page, according to the last overview. */
  readonly attention?: () => Attention | undefined;
}

/** The pages by their name in the URL (the first is the start page), and the overview that the event stream updates. */
export interface PageList {
  readonly pages: Readonly<Record<string, PageEntry>>;
  readonly overview: Pick<Resource<{ readonly now: number }>, 'set'>;
}

type CheckedOverview = Pick<Resource<{ readonly checks: readonly { readonly ok: boolean }[] }>, 'state'>;

/** Returns the number of failed checks in the last overview. */
export function failedChecks({ state }: CheckedOverview): Attention | undefined {
  if (state.value.kind !== 'ready') return undefined;
  return { number: state.value.answer.checks.filter(({ ok }) => !ok).length, meaning: 'failed checks' };
}
