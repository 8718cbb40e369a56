import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'caution' | 'bad' | 'plain' | 'accent';

/** A short state in words; its color only repeats them. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
