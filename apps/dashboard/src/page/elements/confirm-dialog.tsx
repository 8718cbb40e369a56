import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { Fault } from './fault.js';
import { useSubmission } from './submission.js';

interface ConfirmDialogProps {
  readonly title: string;
  /** The text of the button, a verb. */
  readonly verb: string;
  readonly isDanger?: boolean;
  /** Disables the button, for example until it is known whether the action is safe. */
  readonly isDisabled?: boolean;
  /** Runs the action. The dialog closes when it resolves, and shows the message if it rejects. */
  readonly act: () => Promise<void>;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** Requests confirmation before an action that cannot be undone or that needs input. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, verb, isDanger = false, isDisabled = false, act, close, children } = props;
  const { isBusy, error, submit } = useSubmission(async () => {
    await act();
    close();
  });
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit}>
        {children}
        <Fault sentence={error.value} />
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={isDanger ? 'danger' : 'primary'}
            disabled={isDisabled}
            aria-busy={isBusy.value}
          >
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
