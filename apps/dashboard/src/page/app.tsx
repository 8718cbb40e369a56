import { session } from './session/session.js';
import { SignIn } from './session/sign-in.js';
import { Shell } from './shell/shell.js';

/** Shows the sign-in form, or the pages for a signed-in operator. */
export function App() {
  const state = session.value;
  if (state.kind === 'signed-in') return <Shell />;
  if (state.kind === 'signed-out') return <SignIn session={state} />;
  return (
    <main class="sign-in">
      <h1>Waxwing relay</h1>
      <p role="status">Loading …</p>
    </main>
  );
}
