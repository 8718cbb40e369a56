import { renderMarkdown } from '@waxwing/markdown';
import type { PushRealm } from '@waxwing/server-push';

/** Returns the organization's description as safe HTML. */
export function renderedDescription(description: string, { url }: Pick<PushRealm, 'url'>): string {
  return renderMarkdown(description, { realmUrl: url }).html;
}
