import { encodeBase64 } from '@waxwing/protocol';
import { printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import { createPrivateFile, fileExists } from '@waxwing/service/config';
import { openingKeys } from '../ring/key-ring.js';
import { readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { actorName, withKeyAdmin } from './admin-session.js';
import { isThere } from './key-files.js';
import type { ExportFlags } from './ring-flags.js';

/** `keys export-stock`. Never asks the running relay: private keys must not leave it through the admin socket. */
export async function exportStockKeys(terminal: Terminal, flags: ExportFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  if (await fileExists(flags.to)) throw isThere(flags.to);
  await withKeyAdmin(terminal, configuration, async ({ keeper, clock }) => {
    const { ring } = await keeper.read();
    const keys = openingKeys(ring, clock());
    const exported = { file: flags.to, keys: keys.map(({ id }) => id) };
    if (flags.dryRun) {
      const people = `This would write ${keys.length} unencrypted private keys to ${flags.to}.`;
      return printResult(terminal, flags, { machines: { dry_run: true, ...exported }, people });
    }
    await requireConsent(
      terminal,
      `${flags.to} will contain ${keys.length} unencrypted private keys. Continue?`,
      flags.yes,
    );
    const pairs = keys.map(({ publicKey, privateKey }) => [publicKey, encodeBase64(privateKey.reveal())]);
    const changes = keys.map(({ id }) => `bouncer key ${id}: private half written to ${flags.to}`);
    const entry = { actor: actorName(), action: 'export-stock', changes };
    await keeper.options.audit.append({ at: clock(), ...entry, phase: 'begun' });
    if (!(await createPrivateFile(flags.to, `${JSON.stringify(Object.fromEntries(pairs))}\n`))) {
      throw isThere(flags.to);
    }
    await keeper.options.audit.append({ at: clock(), ...entry, phase: 'done' });
    printResult(terminal, flags, {
      machines: { dry_run: false, ...exported },
      people: `${flags.to} contains ${keys.length} private keys: destroy it when the stock relay has them.`,
    });
  });
}
