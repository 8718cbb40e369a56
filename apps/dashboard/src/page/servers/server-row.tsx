import { useSignal } from '@preact/signals';
import type { RelayServer } from '../api/answers.js';
import { post } from '../api/request.js';
import { ActionButton } from '../elements/action-button.js';
import { Badge, type Tone } from '../elements/badge.js';
import { ConfirmDialog } from '../elements/confirm-dialog.js';
import { count } from '../elements/count.js';
import { announce } from '../elements/notice.js';
import { Time } from '../elements/time.js';
import { serverList } from './server-list.js';

const tones: Readonly<Record<RelayServer['state'], Tone>> = {
  active: 'good',
  suspended: 'caution',
  deactivated: 'plain',
};

/** Shows one server with its usage in the last day, and a button that suspends or resumes it. */
export function ServerRow({ server, now }: { readonly server: RelayServer; readonly now: number }) {
  const { uuid, hostname, state, quota } = server;
  const name = [hostname, server.name, uuid].find(Boolean) ?? uuid;
  return (
    <tr>
      <th scope="row" data-label="Server">
        <span class="name">{name}</span>
        {name !== uuid && <code class="soft id">{uuid}</code>}
      </th>
      <td data-label="State">
        <Badge tone={tones[state]}>{state}</Badge>
      </td>
      <td data-label="Last seen">
        <Time at={server.last_seen_at} now={now} />
      </td>
      <td data-label="Devices" class="number">
        {count(server.devices)}
      </td>
      <td data-label="This minute" class="number">
        {count(quota.used)} of {count(quota.limit)}
      </td>
      <td data-label="Last 24 hours" class="number">
        <div>
          {count(server.delivered_day)} delivered
          <span class="whole soft">{count(server.rejected_day)} rejected</span>
        </div>
      </td>
      <td class="row-action">
        <StateButton server={server} name={name} />
      </td>
    </tr>
  );
}

function StateButton({ server, name }: { readonly server: RelayServer; readonly name: string }) {
  const isAsking = useSignal(false);
  async function change(verb: 'suspend' | 'resume'): Promise<void> {
    await post(`/servers/${encodeURIComponent(server.uuid)}/${verb}`);
    await serverList.load();
    announce(`${name} is ${verb === 'suspend' ? 'suspended' : 'active again'}.`);
  }
  if (server.state === 'deactivated') return null;
  if (server.state === 'suspended') {
    return (
      <ActionButton act={() => change('resume')} name={`Resume ${name}`}>
        Resume
      </ActionButton>
    );
  }
  return (
    <>
      <button type="button" aria-label={`Suspend ${name}`} onClick={() => (isAsking.value = true)}>
        Suspend …
      </button>
      {isAsking.value && (
        <ConfirmDialog
          title={`Suspend ${name}?`}
          verb="Suspend"
          isDanger
          act={() => change('suspend')}
          close={() => (isAsking.value = false)}
        >
          <p>
            The relay refuses its requests until you resume it. Its users get no notifications; registrations
            are kept.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
