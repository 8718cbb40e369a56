import { productName } from './api/program.js';
import { session } from './session/session.js';
import { SignIn } from './session/sign-in.js';
import type { PageList } from './shell/page-list.js';
import { Shell } from './shell/shell.js';

/** Shows the sign-in form, or the pages for a signed-in administrator. */
export function App(list: PageList) {
  const state = session.value;
  if (state.kind === 'signed-in') return <Shell {...list} />;
  if (state.kind === 'signed-out') return <SignIn session={state} />;
  return (
    <main class="sign-in">
      <h1>{productName}</h1>
      <p role="status">Loading …</p>
    </main>
  );
}
