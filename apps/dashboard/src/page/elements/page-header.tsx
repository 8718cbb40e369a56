import type { ComponentChildren } from 'preact';

interface PageHeaderProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** The heading and actions of a page. The heading receives focus when the page opens. */
export function PageHeader({ title, children }: PageHeaderProps) {
  return (
    <div class="page-header">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  );
}
