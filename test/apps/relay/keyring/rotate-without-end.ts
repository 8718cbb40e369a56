import { KeyRingKeeper } from '#relay/keyring/live/key-ring-keeper.js';
import { primaryKey } from '#relay/keyring/ring/key-ring.js';
import { revoke } from '#relay/keyring/ring/key-ring-transitions.js';
import { auditFile } from '#relay/keyring/storage/audit-log.js';
import { keyRingFile } from '#relay/keyring/storage/key-ring-file.js';
import { policy, sodium, startedAt } from './ring-material.js';

/** A process that changes a ring as fast as it can until a test kills it. Prints `changing` when it starts. */
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
