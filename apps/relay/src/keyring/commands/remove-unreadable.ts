import { printResult, requireConsent, type Terminal } from '@waxwing/service/command-line';
import {
  findUnreadableDevices,
  removeUnreadableDevices,
} from '../../registrations/store/unreadable-devices.js';
import { readKeyRingEnvironmentAlone } from '../storage/key-ring-configuration.js';
import { KeyRingTokenVault } from '../tokens/key-ring-token-vault.js';
import { withKeyAdmin } from './admin-session.js';
import type { AskedChangeFlags } from './output.js';

/** `keys remove-unreadable`. */
export async function removeUnreadable(terminal: Terminal, flags: AskedChangeFlags): Promise<void> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  await withKeyAdmin(terminal, configuration, async ({ keeper, clock, sodium }, database) => {
    const { ring } = await keeper.read();
    const vault = new KeyRingTokenVault(() => ring, clock, sodium);
    const { devices, looked } = await findUnreadableDevices(database, vault);
    const found = `${devices.length} of ${looked} devices have a token that the key ring in ${keeper.options.store.location} cannot open`;
    const machines = { unreadable: devices.length, looked_at: looked, dry_run: flags.dryRun ?? false };
    if (flags.dryRun || devices.length === 0) {
      return printResult(terminal, flags, { machines: { ...machines, removed: 0 }, people: `${found}.` });
    }
    const question = `${found}. After removal they get no notifications until they register again, even if another ring is restored. Is this the right ring, and should they be removed?`;
    await requireConsent(terminal, question, flags.yes);
    const removed = await removeUnreadableDevices(database, devices);
    printResult(terminal, flags, {
      machines: { ...machines, removed },
      people: `${removed} devices were removed.`,
    });
  });
}
