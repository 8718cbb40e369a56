import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moveKeyRing, removeMovedKeyRing } from '#relay/keyring/live/move-key-ring.js';
import { rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { keyRingFile } from '#relay/keyring/storage/key-ring-file.js';
import type { KeyRingStore } from '#relay/keyring/storage/key-ring-store.js';
import { policy, type RingOnDisk, ringOnDisk, sodium, startedAt } from './ring-material.js';

/** Returns the phases of all moves in the audit log. */
function movesOf({ auditPath }: RingOnDisk): unknown[] {
  const lines = readFileSync(auditPath, 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line))
    .flatMap(({ action, phase }) => (action === 'move' ? [phase] : []));
}

describe('a move of the ring', () => {
  it('is audited at its start and end, and is idempotent', async () => {
    const disk = await ringOnDisk();
    expect(await moveKeyRing(optionsFor(disk))).toBe(true);
    expect(movesOf(disk)).toEqual(['begun', 'done']);
    expect(await moveKeyRing(optionsFor(disk))).toBe(false);
    expect(movesOf(disk)).toEqual(['begun', 'done']);
  });

  it('is refused if the ring does not exist or was moved elsewhere', async () => {
    const disk = await ringOnDisk();
    const ring = readFileSync(disk.path, 'utf8');
    const write = (text: string) => writeFileSync(disk.path, text, { mode: 0o600 });
    rmSync(disk.path);
    await expect(moveKeyRing(optionsFor(disk))).rejects.toThrow('There is no key ring in');
    write('moved to elsewhere\n');
    await expect(moveKeyRing(optionsFor(disk))).rejects.toThrow('to elsewhere: set RELAY_KEY_RING=elsewhere');
    const target = join(disk.folder, 'new.age');
    write(`moved to ${target}\n`);
    await expect(moveKeyRing(optionsFor(disk))).rejects.toThrow('but is no longer there: restore it');
    // A move marker is not a ring.
    writeFileSync(target, 'moved to elsewhere\n', { mode: 0o600 });
    await expect(moveKeyRing(optionsFor(disk))).rejects.toThrow('but is no longer there: restore it');
    writeFileSync(target, ring, { mode: 0o600 });
    expect(await moveKeyRing(optionsFor(disk))).toBe(false);
    expect([readFileSync(target, 'utf8'), movesOf(disk)]).toEqual([ring, []]);
  });

  it('is refused, without a copy, if the ring does not open', async () => {
    const disk = await ringOnDisk();
    const other = await ringOnDisk();
    writeFileSync(disk.identityPath, readFileSync(other.identityPath), { mode: 0o600 });
    await expect(moveKeyRing(optionsFor(disk))).rejects.toThrow();
    expect([existsSync(`${disk.path}-moved`), existsSync(join(disk.folder, 'new.age'))]).toEqual([
      ...[false, false],
    ]);
  });

  it('does not write the ring again if the target already has it', async () => {
    const disk = await ringOnDisk();
    const ring = readFileSync(disk.path, 'utf8');
    const paths = { to: join(disk.folder, 'new.age'), copy: `${disk.path}-moved` };
    for (const path of Object.values(paths)) writeFileSync(path, ring, { mode: 0o600 });
    const replace = () => Promise.reject(new Error('it was written'));
    const unwritten = (path: string): KeyRingStore => ({ ...keyRingFile(path), replace });
    const stores = { to: unwritten(paths.to), copy: unwritten(paths.copy) };
    expect(await moveKeyRing(optionsFor(disk, stores))).toBe(true);
    expect(readFileSync(join(disk.folder, 'new.age'), 'utf8')).toBe(ring);
    expect(readFileSync(disk.path, 'utf8')).toBe(`moved to ${join(disk.folder, 'new.age')}\n`);
  });

  it('leaves the ring at the source if another process writes to the target meanwhile', async () => {
    const disk = await ringOnDisk();
    const before = readFileSync(disk.path, 'utf8');
    const busy = { ...keyRingFile(join(disk.folder, 'new.age')), replace: async () => false };
    await expect(moveKeyRing(optionsFor(disk, { to: busy }))).rejects.toThrow('nothing was moved');
    expect([readFileSync(disk.path, 'utf8'), movesOf(disk)]).toEqual([before, ['begun']]);
  });

  it('leaves the ring at the source if the written ring does not read back', async () => {
    const disk = await ringOnDisk();
    const before = readFileSync(disk.path, 'utf8');
    const target = keyRingFile(join(disk.folder, 'new.age'));
    const forgetful: KeyRingStore = { ...target, replace: async () => true };
    const options = optionsFor(disk, { to: forgetful });
    await expect(moveKeyRing(options)).rejects.toThrow('differs from the text that was written to it');
    expect(readFileSync(disk.path, 'utf8')).toBe(before);
  });

  it('leaves the ring at the source if the copy does not read back', async () => {
    const disk = await ringOnDisk();
    const before = readFileSync(disk.path, 'utf8');
    const copy: KeyRingStore = { ...keyRingFile(`${disk.path}-moved`), replace: async () => true };
    await expect(moveKeyRing(optionsFor(disk, { copy }))).rejects.toThrow(
      'differs from the text that was written to it',
    );
    expect(readFileSync(disk.path, 'utf8')).toBe(before);
    expect(existsSync(join(disk.folder, 'new.age'))).toBe(false);
  });

  it('includes a change that another process makes at the last moment', async () => {
    const disk = await ringOnDisk();
    const first = readFileSync(disk.path, 'utf8');
    const store = keyRingFile(disk.path);
    let isFirst = true;
    const from: KeyRingStore = {
      ...store,
      async replace(expected, next) {
        if (isFirst) {
          isFirst = false;
          const context = { policy, makeKeyPair: () => sodium.generateKeyPair(), now: startedAt };
          await disk.keeper.change((ring) => rotate(ring, context), { actor: 'other', action: 'rotate' });
        }
        return store.replace(expected, next);
      },
    };
    await moveKeyRing(optionsFor(disk, { from }));
    expect(movesOf(disk)).toEqual(['begun', 'begun', 'done']);
    const moved = readFileSync(join(disk.folder, 'new.age'), 'utf8');
    expect(moved).not.toBe(first);
    expect(readFileSync(`${disk.path}-moved`, 'utf8')).toBe(moved);
    expect(readFileSync(disk.path, 'utf8')).toBe(`moved to ${join(disk.folder, 'new.age')}\n`);
  });

  it.each([1, 2, 3])('loses nothing if the process dies after write %i, and can be resumed', async (last) => {
    const disk = await ringOnDisk();
    const ring = readFileSync(disk.path, 'utf8');
    const place = { from: disk.path, copy: `${disk.path}-moved`, to: join(disk.folder, 'new.age') };
    await new Promise<void>((dead) => {
      let writes = 0;
      const mortal = (path: string): KeyRingStore => {
        const store = keyRingFile(path);
        const replace: KeyRingStore['replace'] = async (expected, next) => {
          const done = await store.replace(expected, next);
          writes += 1;
          if (writes < last) return done;
          dead();
          return new Promise(() => undefined);
        };
        return { ...store, replace };
      };
      const from = mortal(place.from);
      const options = optionsFor(disk, { from, copy: mortal(place.copy), to: mortal(place.to) });
      void moveKeyRing(options);
    });
    const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
    expect(Object.values(place).map(read)).toContain(ring);
    const inUse = [place.from, place.to].filter((path) => read(path) === ring);
    expect(inUse.length, 'never two rings that relays could change').toBeLessThan(2);
    await moveKeyRing(optionsFor(disk));
    expect(Object.values(place).map(read)).toEqual([`moved to ${place.to}\n`, ring, ring]);
  });

  it('is not confirmed, and the copy is kept, if the target has another ring', async () => {
    const disk = await ringOnDisk();
    const options = optionsFor(disk);
    await moveKeyRing(options);
    const other = await ringOnDisk(newKeyRing(sodium, 0));
    const stranger = { ...options, to: { ...options.to, store: keyRingFile(other.path) } };
    writeFileSync(other.identityPath, readFileSync(disk.identityPath), { mode: 0o600 });
    await other.keeper.options.store.remove(readFileSync(other.path, 'utf8'));
    await other.keeper.create(newKeyRing(sodium, 0), 'test');
    await expect(moveKeyRing(stranger)).rejects.toThrow('is not the one that was moved there');
    await expect(removeMovedKeyRing(stranger)).rejects.toThrow('is not the one that was moved there');
    expect(existsSync(`${disk.path}-moved`)).toBe(true);
  });
});

describe('the copy that a move has kept', () => {
  it('is not destroyed if the target is the copy itself, under any name', async () => {
    const disk = await ringOnDisk();
    const moved = optionsFor(disk);
    await moveKeyRing(moved);
    const copyPath = `${disk.path}-moved`;
    const ring = readFileSync(copyPath, 'utf8');
    const itself = { ...moved, to: { ...moved.to, store: moved.copy } };
    await expect(removeMovedKeyRing(itself)).rejects.toThrow('use another file');
    await expect(moveKeyRing(itself)).rejects.toThrow('use another file');
    // A second name for the copy, as a case-insensitive file system would have.
    const otherName = join(disk.folder, 'RING.AGE-MOVED');
    linkSync(copyPath, otherName);
    const [copy, store] = [manyNamed(copyPath), manyNamed(otherName)];
    const renamed = { ...moved, copy, to: { ...moved.to, store } };
    await expect(removeMovedKeyRing(renamed)).rejects.toThrow('use another file');
    expect(readFileSync(copyPath, 'utf8')).toBe(ring);
  });

  it('is reported as destroyed only after it was destroyed', async () => {
    const disk = await ringOnDisk();
    const options = optionsFor(disk);
    await moveKeyRing(options);
    const busy = { ...options, copy: { ...options.copy, remove: async () => false } };
    expect(await removeMovedKeyRing(busy)).toBe(false);
    expect(await removeMovedKeyRing(options)).toBe(true);
    expect(await removeMovedKeyRing(options)).toBe(false);
  });

  it('is kept if the target is empty', async () => {
    const disk = await ringOnDisk();
    const options = optionsFor(disk);
    await moveKeyRing(options);
    rmSync(join(disk.folder, 'new.age'));
    const remove = () => Promise.reject(new Error('it was removed'));
    const kept = { ...options, copy: { ...options.copy, remove } };
    await expect(removeMovedKeyRing(kept)).rejects.toThrow('There is no key ring in the file');
    await disk.keeper.open(readFileSync(`${disk.path}-moved`, 'utf8'));
  });

  it('is restored if the ring at the target disappears during the removal', async () => {
    const disk = await ringOnDisk();
    const options = optionsFor(disk);
    await moveKeyRing(options);
    const remove: KeyRingStore['remove'] = async (expected) => {
      rmSync(join(disk.folder, 'new.age'));
      return options.copy.remove(expected);
    };
    const treacherous = { ...options, copy: { ...options.copy, remove } };
    await expect(removeMovedKeyRing(treacherous)).rejects.toThrow('There is no key ring in the file');
    const kept = readFileSync(`${disk.path}-moved`, 'utf8');
    expect((await disk.keeper.open(kept)).bouncerKeys).toHaveLength(1);
  });
});

/** A store for a file with several names that are not hard links. */
function manyNamed(path: string): KeyRingStore {
  return { ...keyRingFile(path), read: async () => readFileSync(path, 'utf8') };
}

type Stores = Partial<Record<'from' | 'copy' | 'to', KeyRingStore>>;

function optionsFor({ path, folder, keeper }: Awaited<ReturnType<typeof ringOnDisk>>, stores: Stores = {}) {
  const target = join(folder, 'new.age');
  return {
    keeper,
    from: { store: stores.from ?? keyRingFile(path), setting: path },
    copy: stores.copy ?? keyRingFile(`${path}-moved`),
    to: { store: stores.to ?? keyRingFile(target), setting: target },
    actor: 'test',
  };
}
