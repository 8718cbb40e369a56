import { useSignal } from '@preact/signals';
import type { Invitation } from '../api/answers.js';
import { post } from '../api/request.js';
import { Dialog } from '../elements/dialog.js';
import { Fault } from '../elements/fault.js';
import { fieldOf, useSubmission } from '../elements/submission.js';
import { Time } from '../elements/time.js';
import { InvitationCode } from './invitation-code.js';

/** Dialog that creates an invitation for one server and shows the code once. */
export function InviteDialog({ close }: { readonly close: () => void }) {
  const invitation = useSignal<Invitation | undefined>(undefined);
  return (
    <Dialog title="Invite a server" close={close}>
      {invitation.value === undefined ? (
        <InvitationForm made={(value) => (invitation.value = value)} close={close} />
      ) : (
        <>
          <InvitationCode code={invitation.value.code} />
          <p class="soft">
            It is shown only here. It can be used until <Time at={invitation.value.expires_at} />.
          </p>
          <div class="actions">
            <button type="button" class="primary" onClick={close}>
              Done
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

interface InvitationFormProps {
  readonly made: (invitation: Invitation) => void;
  readonly close: () => void;
}

function InvitationForm({ made, close }: InvitationFormProps) {
  const { isBusy, error, submit } = useSubmission(async (form) => {
    const hostname = fieldOf(form, 'hostname');
    made(await post<Invitation>('/servers/invitations', hostname === '' ? {} : { hostname }));
  });
  return (
    <form onSubmit={submit}>
      <label class="field">
        Host name that may join; empty for any
        <input name="hostname" maxLength={253} autocomplete="off" placeholder="chat.example.com" />
      </label>
      <Fault sentence={error.value} />
      <div class="actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary" aria-busy={isBusy.value}>
          Make an invitation
        </button>
      </div>
    </form>
  );
}
