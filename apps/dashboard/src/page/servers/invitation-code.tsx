import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** Shows an invitation code with a copy button. The code is displayed only once. */
export function InvitationCode({ code }: { readonly code: string }) {
  const input = useRef<HTMLInputElement>(null);
  const result = useSignal('');
  useEffect(() => input.current?.select(), []);

  async function copy(): Promise<void> {
    input.current?.select();
    try {
      await navigator.clipboard.writeText(code);
      result.value = 'Copied.';
    } catch {
      // Browsers allow access to the clipboard only over HTTPS or on localhost.
      result.value = 'The browser does not allow copying. The code is selected: copy it with the keyboard.';
    }
  }

  return (
    <div class="invitation">
      <label class="field">
        Invitation code
        <input ref={input} class="code" readOnly value={code} />
      </label>
      <button type="button" onClick={copy}>
        Copy
      </button>
      <p class="hint" role="status">
        {result.value}
      </p>
    </div>
  );
}
