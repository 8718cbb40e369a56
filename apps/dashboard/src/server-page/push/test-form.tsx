import { useSignal } from '@preact/signals';
import { post } from '../../page/api/request.js';
import { Fault } from '../../page/elements/fault.js';
import { fieldOf, useSubmission } from '../../page/elements/submission.js';

/** Form that sends a test notification to a user's phones, and shows the result. */
export function TestForm() {
  const result = useSignal<string | undefined>(undefined);
  const { isBusy, error, submit } = useSubmission(async (form) => {
    result.value = undefined;
    const email = fieldOf(form, 'email');
    const { result: sentence } = await post<{ readonly result: string }>('/push/test', { email });
    result.value = `The phones of ${email}: ${sentence}`;
  });
  return (
    <section aria-labelledby="test-title">
      <h2 id="test-title">Test notification</h2>
      <form class="panel" onSubmit={submit}>
        <label for="email">E-mail address of the user</label>
        <input id="email" name="email" type="email" required maxLength={320} aria-describedby="test-hint" />
        <p id="test-hint" class="hint">
          All phones of this user show a test notification. The result appears within five seconds.
        </p>
        <Fault sentence={error.value} />
        <p role="status">{result.value}</p>
        <button type="submit" class="primary" aria-busy={isBusy.value}>
          {isBusy.value ? 'Sending …' : 'Send a test'}
        </button>
      </form>
    </section>
  );
}
