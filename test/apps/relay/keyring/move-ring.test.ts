import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { type KeyTerminal, keysOf, keyTerminal, terminalWithRing, withDatabase } from './key-terminal.js';
import { registerWith, relayWithKeys, startRelayOf } from './relay-with-keys.js';

const fileOf = (terminal: KeyTerminal) => join(terminal.folder, 'ring.age');
const inDatabase = (terminal: KeyTerminal) => {
  terminal.environment.RELAY_KEY_RING = 'database';
  terminal.environment.RELAY_KEY_ADMIN_SOCKET = join(terminal.folder, 'ring.sock');
  terminal.environment.RELAY_KEY_AUDIT_LOG = join(terminal.folder, 'audit.jsonl');
};
const rowsOf = (terminal: KeyTerminal) =>
  withDatabase(terminal, ({ db }) => db.selectFrom('key_rings').select(['name', 'encrypted']).execute());

eachBackend((backend) => {
  let terminal: KeyTerminal;
  beforeEach(async () => {
    terminal = keyTerminal({ RELAY_DATABASE: await backend.freshUrl() });
    await terminal.json('init');
  });

  it('moves a ring with all of its keys from a file to the database and back', async () => {
    await terminal.json('rotate');
    const [keys, text] = [await keysOf(terminal), readFileSync(fileOf(terminal), 'utf8')];
    const { printed } = await terminal.run('move', '--to', 'database');
    expect(printed).toContain('Set RELAY_KEY_RING=database and restart every relay');
    expect((await rowsOf(terminal)).map(({ encrypted }) => encrypted)).toEqual([text]);
    expect((await terminal.run('list')).error).toContain(
      `was moved from the file ${fileOf(terminal)} to database: set RELAY_KEY_RING=database`,
    );
    expect((await terminal.run('init')).error).toContain('nothing was changed');
    inDatabase(terminal);
    expect(await keysOf(terminal)).toEqual(keys);
    await terminal.json('rotate');

    const back = await terminal.json('move', '--to', `file:${fileOf(terminal)}`, '--remove-old', '--yes');
    expect(back).toEqual({ moved: true, dry_run: false, removed_old: true, key_ring: fileOf(terminal) });
    expect((await rowsOf(terminal)).map(({ encrypted }) => encrypted)).toEqual([
      `moved to ${fileOf(terminal)}\n`,
    ]);
    terminal.environment.RELAY_KEY_RING = fileOf(terminal);
    expect(await keysOf(terminal)).toHaveLength(3);
    expect(statSync(fileOf(terminal)).mode & 0o777).toBe(0o600);
  });

  it('keeps the old copy until --remove-old destroys it, even after the moved ring has changed', async () => {
    const text = readFileSync(fileOf(terminal), 'utf8');
    const copy = `${fileOf(terminal)}-moved`;
    await terminal.json('move', '--to', 'database');
    expect([readFileSync(copy, 'utf8'), statSync(copy).mode & 0o777]).toEqual([text, 0o600]);
    const old = { ...terminal.environment };
    inDatabase(terminal);
    await terminal.json('rotate');
    Object.assign(terminal.environment, old);
    expect((await terminal.run('move', '--to', 'database', '--remove-old')).error).toContain('add --yes');
    expect(existsSync(copy)).toBe(true);
    const again = await terminal.json('move', '--to', 'database', '--remove-old', '--yes');
    expect(again).toMatchObject({ moved: false, removed_old: true });
    expect(existsSync(copy)).toBe(false);
    inDatabase(terminal);
    expect(await keysOf(terminal)).toHaveLength(2);
  });

  it('refuses to replace another ring, names both locations, and changes neither ring', async () => {
    const mine = readFileSync(fileOf(terminal), 'utf8');
    const other = (await terminalWithRing()).environment.RELAY_KEY_RING ?? '';
    const theirs = readFileSync(other, 'utf8');
    const toFile = await terminal.run('move', '--to', `file:${other}`);
    expect(toFile.error).toContain(
      `The key rings in the file ${other} and the file ${fileOf(terminal)} differ`,
    );
    await withDatabase(terminal, ({ db }) =>
      db.insertInto('key_rings').values({ name: 'relay', encrypted: theirs }).execute(),
    );
    const toDatabase = await terminal.run('move', '--to', 'database');
    expect(toDatabase.error).toContain(
      `The key rings in the relay's database and the file ${fileOf(terminal)} differ: nothing was changed`,
    );
    expect([readFileSync(fileOf(terminal), 'utf8'), readFileSync(other, 'utf8')]).toEqual([mine, theirs]);
    expect(await rowsOf(terminal)).toEqual([{ name: 'relay', encrypted: theirs }]);
  });

  it('a running relay logs the move and keeps its keys, as does a relay that restarts with the new setting', async () => {
    const here = await relayWithKeys({ RELAY_DATABASE: await backend.freshUrl() });
    const [key] = await keysOf(here.terminal);
    const phone = await registerWith(here, key?.public_key ?? '', 'a token');
    await here.terminal.json('move', '--to', 'database');
    const sentence = 'to database: set RELAY_KEY_RING=database';
    await expect.poll(() => here.log.text(), { timeout: 20_000 }).toContain(sentence);
    expect(await registerWith(here, key?.public_key ?? '', 'a token')).toEqual(phone);
    expect((await here.terminal.run('rotate')).error).toContain('was moved from');
    await here.relay.close();

    await expect(startRelayOf(here.terminal)).rejects.toThrow('set RELAY_KEY_RING=database');
    inDatabase(here.terminal);
    const relays = [await startRelayOf(here.terminal)];
    here.terminal.environment.RELAY_KEY_ADMIN_SOCKET = join(here.terminal.folder, 'second.sock');
    // Only PostgreSQL allows a second relay.
    if (backend.name === 'postgres') relays.push(await startRelayOf(here.terminal));
    for (const { relay } of relays) {
      expect(await registerWith({ ...here, relay }, key?.public_key ?? '', 'a token')).toEqual(phone);
      expect((await fetch(`${relay.url}/health/ready`)).status).toBe(200);
    }
    await Promise.all(relays.map(({ relay }) => relay.close()));
  });
});

describe('keys move', () => {
  it('refuses an invalid or unchanged location, and moves nothing with --dry-run', async () => {
    const terminal = await terminalWithRing();
    const before = readFileSync(fileOf(terminal), 'utf8');
    expect((await terminal.run('move', '--to', 'elsewhere')).error).toContain('use database, or file:PATH');
    const here = await terminal.run('move', '--to', `file:${fileOf(terminal)}`);
    expect(here.error).toContain('there is nothing to move');
    expect(await terminal.json('move', '--to', 'database', '--dry-run')).toMatchObject({ moved: false });
    expect(readFileSync(fileOf(terminal), 'utf8')).toBe(before);
    expect(await rowsOf(terminal)).toEqual([]);
  });

  describe.each([
    ['directly', (terminal: KeyTerminal) => terminal.folder],
    ['through a linked folder', linkTo],
    ['through a folder of a linked folder', (terminal: KeyTerminal) => `${linkTo(terminal)}/x/..`],
  ])('to the path of its own copy, named %s', (_name, folderOf) => {
    it.each(['', '--dry-run', '--remove-old --yes'])('is refused, and moves nothing (%s)', async (flags) => {
      const terminal = await terminalWithRing();
      const [keys, text] = [await keysOf(terminal), readFileSync(fileOf(terminal), 'utf8')];
      const place = `file:${folderOf(terminal)}/ring.age-moved`;
      for (let step = 0; step < 2; step += 1) {
        const { error } = await terminal.run('move', '--to', place, ...flags.split(' ').filter(Boolean));
        expect(error ?? 'not refused').toContain(
          'because --remove-old destroys the copy there: use another file',
        );
        expect(existsSync(`${fileOf(terminal)}-moved`)).toBe(false);
        expect(readFileSync(fileOf(terminal), 'utf8')).toBe(text);
      }
      expect(await keysOf(terminal)).toEqual(keys);
    });

    it('is refused even if the ring is already there, and destroys nothing', async () => {
      const terminal = await terminalWithRing();
      const [keys, there] = [await keysOf(terminal), join(folderOf(terminal), 'ring.age-moved')];
      renameSync(fileOf(terminal), there);
      writeFileSync(fileOf(terminal), `moved to ${there}\n`, { mode: 0o600 });
      const { error } = await terminal.run('move', '--to', `file:${there}`, '--remove-old', '--yes');
      expect(error ?? 'not refused').toContain('use another file');
      terminal.environment.RELAY_KEY_RING = there;
      expect(await keysOf(terminal)).toEqual(keys);
    });

    it("is refused if it is the ring's own location", async () => {
      const terminal = await terminalWithRing();
      const text = readFileSync(fileOf(terminal), 'utf8');
      const { error } = await terminal.run(
        'move',
        '--to',
        `file:${folderOf(terminal)}/ring.age`,
        '--remove-old',
        '--yes',
      );
      expect(error ?? 'not refused').toContain('there is nothing to move');
      expect(readFileSync(fileOf(terminal), 'utf8')).toBe(text);
      expect(existsSync(`${fileOf(terminal)}-moved`)).toBe(false);
    });
  });

  it('never overwrites another ring at the location of its copy, whether that ring opens or not', async () => {
    const terminal = await terminalWithRing();
    const stranger = await terminalWithRing();
    const mine = readFileSync(fileOf(terminal), 'utf8');
    const copy = `${fileOf(terminal)}-moved`;
    // Creates a ring with this terminal's identity. The other terminal's ring has a different identity.
    terminal.environment.RELAY_KEY_RING = copy;
    await terminal.json('init');
    terminal.environment.RELAY_KEY_RING = fileOf(terminal);
    const sibling = readFileSync(copy, 'utf8');
    for (const other of [sibling, readFileSync(fileOf(stranger), 'utf8'), 'moved to elsewhere\n']) {
      writeFileSync(copy, other, { mode: 0o600 });
      const { error } = await terminal.run('move', '--to', 'database');
      expect(error ?? 'not refused').toContain(
        `another key ring in the file ${copy}, where the copy of this one would be kept: nothing was changed`,
      );
      expect([readFileSync(copy, 'utf8'), readFileSync(fileOf(terminal), 'utf8')]).toEqual([other, mine]);
      expect(await rowsOf(terminal)).toEqual([]);
    }
  });

  it('replaces the copy of an earlier move of the same ring', async () => {
    const terminal = await terminalWithRing();
    const copy = `${fileOf(terminal)}-moved`;
    const first = readFileSync(fileOf(terminal), 'utf8');
    writeFileSync(copy, first, { mode: 0o600 });
    await terminal.json('rotate');
    const second = readFileSync(fileOf(terminal), 'utf8');
    await terminal.json('move', '--to', 'database');
    expect(readFileSync(copy, 'utf8')).toBe(second);
  });

  it('leaves the ring at its location if the new location is not writable', async () => {
    const terminal = await terminalWithRing();
    const before = readFileSync(fileOf(terminal), 'utf8');
    writeFileSync(join(terminal.folder, 'no-folder'), '');
    const { error } = await terminal.run(
      'move',
      '--to',
      `file:${join(terminal.folder, 'no-folder/ring.age')}`,
    );
    expect(error).toBeDefined();
    expect(readFileSync(fileOf(terminal), 'utf8')).toBe(before);
    expect(await keysOf(terminal)).toHaveLength(1);
  });
});

/** Creates a symbolic link to the terminal's folder. Returns the path of the link. */
function linkTo({ folder }: KeyTerminal): string {
  symlinkSync(folder, `${folder}-link`);
  return `${folder}-link`;
}
