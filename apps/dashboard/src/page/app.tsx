import { session } from './session/session.js';
import { SignIn } from './session/sign-in.js';
import { Shell } from './shell/shell.js';

/** The sign-in, or the pages for an operator who is signed in. */
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
