import { productName, program } from '../api/program.js';
import { fieldOf, useSubmission } from '../elements/submission.js';
import { type Session, signIn } from './session.js';

const tokenSetting = `${program.toUpperCase()}_ADMIN_TOKEN_FILE`;

/** The form for the admin token. */
export function SignIn({ session }: { readonly session: Session & { readonly kind: 'signed-out' } }) {
  const { isBusy, error, submit } = useSubmission(async (form) => {
    // Selects the token, so that typing replaces it if it is wrong.
    form.querySelector<HTMLInputElement>('#token')?.select();
    await signIn(fieldOf(form, 'token'));
  });
  const isRefused = error.value !== undefined;
  return (
    <main class="sign-in">
      <h1>{productName}</h1>
      <form class="panel" onSubmit={submit}>
        {/* Password managers store a password only together with a user name. */}
        <input type="text" name="username" value={`${program} admin`} autocomplete="username" hidden />
        <label for="token">Admin token</label>
        <input
          id="token"
          name="token"
          type="password"
          required
          autocomplete="current-password"
          aria-describedby="token-hint sign-in-result"
          aria-invalid={isRefused}
        />
        <p id="token-hint" class="hint">
          The content of the file that <code>{tokenSetting}</code> names.
        </p>
        <p id="sign-in-result" role="status" class={isRefused ? 'fault' : 'hint'}>
          {error.value ?? session.reason}
        </p>
        <button type="submit" class="primary" aria-busy={isBusy.value}>
          {isBusy.value ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
