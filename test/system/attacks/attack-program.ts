import { setPriority } from 'node:os';
import type { Attack, AttackReport } from './attack.js';
import { cutRequests } from './cut-requests.js';
import { floodRequests } from './flood-requests.js';
import { holdConnections } from './hold-connections.js';

/**
 * An attacker process. Gets its attack in the parent's first message, and runs it until the attack ends or the parent
 * exits.
 */
const reportMilliseconds = 100;
// Lowers the priority, because the attacked process and the measuring process use the same CPU cores.
setPriority(10);
process.once('message', (attack) => {
  const report = begin(attack as Attack);
  setInterval(() => process.send?.(report()), reportMilliseconds);
});
process.once('disconnect', () => process.exit());

function begin(wanted: Attack): () => AttackReport {
  switch (wanted.kind) {
    case 'hold':
      return holdConnections(wanted);
    case 'flood':
      return floodRequests(wanted);
    case 'cut':
      return cutRequests(wanted);
  }
}
