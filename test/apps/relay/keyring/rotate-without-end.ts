import { auditFile } from '#relay/keyring/audit-log.js';
import { primaryKey } from '#relay/keyring/key-ring.js';
import { keyRingFile } from '#relay/keyring/key-ring-file.js';
import { KeyRingKeeper } from '#relay/keyring/key-ring-keeper.js';
import { revoke } from '#relay/keyring/key-ring-transitions.js';
import { policy, sodium, startedAt } from './ring-material.js';

/** A process that changes a ring as fast as it can, until somebody kills it. It says `changing` once it is at it. */
const [path = '', identityPath = '', auditPath = ''] = process.argv.slice(2);
const keeper = new KeyRingKeeper({
  store: keyRingFile(path),
  unlock: { kind: 'identity', path: identityPath },
  policy,
  sodium,
  clock: () => startedAt,
  audit: auditFile(auditPath),
});
for (let changes = 0; ; changes += 1) {
  const makeKeyPair = () => sodium.generateKeyPair();
  await keeper.change((ring) => revoke(ring, primaryKey(ring).id, { now: startedAt, policy, makeKeyPair }), {
    actor: 'test',
    action: 'rotate without end',
  });
  if (changes === 0) process.stdout.write('changing\n');
}
