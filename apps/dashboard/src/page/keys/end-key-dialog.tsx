import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { KeyRing, Retirement } from '../api/answers.js';
import { get, post } from '../api/request.js';
import { Resource } from '../api/resource.js';
import { ConfirmDialog } from '../elements/confirm-dialog.js';
import { LoadedView } from '../elements/loaded-view.js';
import { announce } from '../elements/notice.js';
import { keyRing } from './key-ring.js';

interface EndKeyDialogProps {
  readonly id: string;
  readonly action: 'retire' | 'revoke';
  readonly close: () => void;
}

const consequences = {
  retire: 'The relay destroys the key’s private half. This cannot be undone.',
  revoke:
    'The relay immediately refuses the key and destroys its private half. Do this if the private half may have been stolen. This cannot be undone.',
} as const;

/**
 * Dialog that retires or revokes a key. First shows whether the action is safe. The button stays disabled until this is
 * known and, for an unsafe retirement, until the operator accepts the consequences.
 */
export function EndKeyDialog({ id, action, close }: EndKeyDialogProps) {
  const path = `/keys/${encodeURIComponent(id)}`;
  const retirement = useMemo(
    () => new Resource<Retirement>((abort) => get(`${path}/retirement`, abort)),
    [path],
  );
  const isAccepted = useSignal(false);
  const reason = useSignal('');
  useEffect(() => {
    retirement.load();
  }, [retirement]);

  async function act(): Promise<void> {
    const body =
      action === 'revoke' ? { reason: reason.value.trim() } : isAccepted.value ? { force: true } : {};
    keyRing.set(await post<KeyRing>(`${path}/${action}`, body));
    announce(`Key ${id} is ${action === 'retire' ? 'retired' : 'revoked'}.`);
  }

  const state = retirement.state.value;
  const isSafe = state.kind === 'ready' && state.answer.safe;
  const isReady =
    state.kind === 'ready' && (action === 'revoke' ? reason.value.trim() !== '' : isSafe || isAccepted.value);
  const verb = action === 'retire' ? 'Retire' : 'Revoke';
  return (
    <ConfirmDialog
      title={`${verb} key ${id}?`}
      verb={verb}
      isDanger
      isDisabled={!isReady}
      act={act}
      close={close}
    >
      <p>{consequences[action]}</p>
      <LoadedView state={state} retry={() => retirement.load()}>
        {(answer) => (
          <>
            <SafetyAnswer retirement={answer} />
            {action === 'retire' && !answer.safe && <Acceptance isAccepted={isAccepted} />}
          </>
        )}
      </LoadedView>
      {action === 'revoke' && <Reason reason={reason} />}
    </ConfirmDialog>
  );
}

function SafetyAnswer({ retirement }: { readonly retirement: Retirement }) {
  return (
    <div class={`answer ${retirement.safe ? 'good' : 'bad'}`} role="status">
      <p>
        <b>{retirement.safe ? 'No phone needs this key anymore.' : 'Phones still need this key.'}</b>
      </p>
      <p>{retirement.explanation}</p>
    </div>
  );
}

function Acceptance({ isAccepted }: { readonly isAccepted: Signal<boolean> }) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isAccepted.value}
        onChange={(event) => (isAccepted.value = event.currentTarget.checked)}
      />
      Retire it anyway: those phones get no notifications until they register again.
    </label>
  );
}

function Reason({ reason }: { readonly reason: Signal<string> }) {
  return (
    <label class="field">
      Reason, for the audit log
      <input
        required
        maxLength={200}
        autocomplete="off"
        value={reason.value}
        onInput={(event) => (reason.value = event.currentTarget.value)}
      />
    </label>
  );
}
