import { render } from 'preact';
import { App } from './app.js';
import { resumeSession } from './session/session.js';
import type { PageList } from './shell/page-list.js';

/** Renders the pages into the document, and signs in with the cookie from an earlier sign-in. */
export function start(list: PageList): void {
  const root = document.getElementById('page');
  if (root === null) throw new Error('the page has no element "page"');
  render(<App {...list} />, root);
  resumeSession();
}
