import type { ComponentChildren } from 'preact';

interface PageHeaderProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** The heading of a page, which takes the focus when the page is opened, and its actions. */
export function PageHeader({ title, children }: PageHeaderProps) {
  return (
    <div class="page-header">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  );
}
