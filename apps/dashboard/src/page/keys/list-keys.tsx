import type { ComponentChildren } from 'preact';
import type { KeyRing } from '../api/answers.js';
import { Time } from '../elements/time.js';

/** Shows when the key list expires, the signing key, and the recovery key, which can replace the signing key. */
export function ListKeys({ ring }: { readonly ring: KeyRing }) {
  const { list_expires_at: expires, signing_key: signing, recovery_key: recovery, now } = ring;
  return (
    <section aria-labelledby="list-title">
      <h2 id="list-title">Key list and its signature</h2>
      <dl class="figures">
        <Entry name="The key list expires">
          {expires === null ? 'nothing is published' : <Time at={expires} now={now} />}
          {expires !== null && (
            <span class="soft">
              <Time at={expires} />
            </span>
          )}
        </Entry>
        <Entry name="Signing key">
          <code>{signing.fingerprint}</code>
          <span class="soft">
            since <Time at={signing.since} />
          </span>
        </Entry>
        <Entry name="Recovery key">
          {recovery === null ? (
            <span class="soft">None. Add one with “waxwing-relay keys add-recovery-key”.</span>
          ) : (
            <code>{recovery.fingerprint}</code>
          )}
        </Entry>
      </dl>
    </section>
  );
}

function Entry({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="panel figure">
      <dt>{name}</dt>
      <dd class="stack">{children}</dd>
    </div>
  );
}
