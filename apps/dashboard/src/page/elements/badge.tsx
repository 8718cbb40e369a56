import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'caution' | 'bad' | 'plain' | 'accent';

/** Shows a state as a short label. The color adds no information. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
