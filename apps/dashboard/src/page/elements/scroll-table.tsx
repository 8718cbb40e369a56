import type { ComponentChildren } from 'preact';

interface ScrollTableProps {
  readonly label: string;
  readonly className?: string;
  readonly children: ComponentChildren;
}

/**
 * A table that scrolls within the page if it is too wide or too long. Focusable, so that keyboard users can scroll it.
 */
export function ScrollTable({ label, className = '', children }: ScrollTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it no keyboard could scroll the table
    <section class={`scroll ${className}`} aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </section>
  );
}
