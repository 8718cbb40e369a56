import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import {
  ConfigurationError,
  createPrivateFile,
  describeUntrustedFile,
  describeUntrustedLink,
  EnvironmentReader,
  generateCredential,
  hashCredential,
  matchesCredential,
  readPrivateFile,
  Secret,
  writePrivateFile,
} from '@waxwing/service/config';
import { retryDelayMilliseconds } from '@waxwing/service/lifecycle';
import { describe, expect, it } from 'vitest';
import fc from '../../../support/fast-check.js';

it('a folder instead of a private file is reported', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-folder-'));
  await expect(readPrivateFile(folder, 'the apps')).rejects.toThrow(
    `${folder} (the apps) is a folder: name a file.`,
  );
});

describe('the environment reader', () => {
  it('reports all problems together, including unknown names', () => {
    const reader = new EnvironmentReader(
      { X_PORT: '70000', X_LEVEL: 'loud', X_URL: 'ftp://a', X_PROT: '1', Y: 'z' },
      'X_',
    );
    reader.integer('PORT', 1, { minimum: 0, maximum: 65_535 });
    reader.oneOf('LEVEL', ['info', 'warn'], 'info');
    reader.url('URL', 'http://a');
    reader.problem('X_KEY is not set: it is needed.');
    expect(() => reader.finish()).toThrow(ConfigurationError);
    try {
      reader.finish();
    } catch (error) {
      expect((error as ConfigurationError).problems.slice(0, 5)).toEqual([
        'X_PORT is "70000": it must be a whole number from 0 to 65535.',
        'X_LEVEL is "loud": it must be one of info, warn.',
        'X_URL is "ftp://a": it must be a URL that starts with http:// or https://.',
        'X_KEY is not set: it is needed.',
        'X_PROT is not a setting: did you mean X_PORT?',
      ]);
    }
  });

  it('suggests a similar setting for an unknown name, and a scheme for a URL without one', () => {
    const environment = { X_LOGLEVEL: 'a', X_COLOUR: 'b', X_URL: 'relay.example:8320/push' };
    const reader = new EnvironmentReader(environment, 'X_');
    reader.oneOf('LOG_LEVEL', ['info'], 'info');
    reader.optionalUrl('URL');
    expect(() => reader.finish()).toThrow(
      new ConfigurationError([
        'X_URL is "relay.example:8320/push": it must be a URL that starts with http:// or https://, such as https://relay.example:8320/push.',
        'X_LOGLEVEL is not a setting: did you mean X_LOG_LEVEL?',
        'X_COLOUR is not a setting: remove it or correct its spelling.',
      ]),
    );
  });

  it('treats an empty variable as unset, and removes trailing slashes from a URL', () => {
    const reader = new EnvironmentReader({ X_PORT: '', X_URL: 'https://relay.example/' }, 'X_');
    expect(reader.integer('PORT', 8320, { minimum: 0, maximum: 65_535 })).toBe(8320);
    expect(reader.url('URL', '')).toBe('https://relay.example');
    expect(() => reader.finish()).not.toThrow();
  });
});

describe('a secret', () => {
  it('is never printed', () => {
    const secret = new Secret('hunter2');
    const shown = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { depth: 9 }),
    ].join();
    expect(shown).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('credentials', () => {
  it('are 256 random bits in 64 hexadecimal digits, and match only their own hash', () => {
    const [one, other] = [generateCredential().reveal(), generateCredential().reveal()];
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(one).not.toBe(other);
    expect(matchesCredential(one, hashCredential(one))).toBe(true);
    expect(matchesCredential(other, hashCredential(one))).toBe(false);
    expect(matchesCredential(one, undefined)).toBe(false);
    // The dummy hash for unknown names must not match anything either.
    const standIn = 'the hash that is compared with when there is no such name';
    expect(matchesCredential(standIn, undefined)).toBe(false);
    expect(hashCredential('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('private files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-private-'));

  it('are written atomically with mode 0600, and leave no temporary file', async () => {
    const path = join(folder, 'deep', 'key');
    await writePrivateFile(path, 'one');
    await writePrivateFile(path, 'two');
    expect(await readPrivateFile(path, 'a key')).toBe('two');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, 'deep'))).toEqual(['key']);
  });

  it('leave no temporary file if the rename fails', async () => {
    const taken = join(folder, 'taken');
    mkdirSync(join(taken, 'key'), { recursive: true });
    await expect(writePrivateFile(join(taken, 'key'), 'secret')).rejects.toThrow();
    expect(readdirSync(taken)).toEqual(['key']);
  });

  it('are created under their final name, and never replace an existing file', async () => {
    const place = join(folder, 'new');
    const path = join(place, 'keys');
    const seen = new Set<string>();
    let isDone = false;
    const created = createPrivateFile(path, 'x'.repeat(5_000_000)).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      if (existsSync(place)) for (const name of readdirSync(place)) seen.add(name);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await created).toBe(true);
    expect([...seen]).toEqual(['keys']);
    expect([statSync(path).mode & 0o777, statSync(path).size]).toEqual([0o600, 5_000_000]);
    expect(await createPrivateFile(path, 'other')).toBe(false);
    symlinkSync(join(folder, 'nowhere'), join(place, 'link'));
    expect(await createPrivateFile(join(place, 'link'), 'secret')).toBe(false);
    expect([statSync(path).size, readdirSync(place).sort()]).toEqual([5_000_000, ['keys', 'link']]);
  });

  it.each(['0644', '0620', '0604', '0602', '0755', '0610', '0601'])(
    'are rejected with mode %s, which gives others access, and with the command to fix it',
    async (mode) => {
      const path = join(folder, 'loose');
      writeFileSync(path, 'x');
      chmodSync(path, Number.parseInt(mode, 8));
      await expect(readPrivateFile(path, 'a key')).rejects.toThrow(
        new ConfigurationError([
          `The file ${path} (a key) has mode ${mode}, which lets others use it: run chmod 600 ${path}.`,
        ]),
      );
    },
  );

  const file = (mode: number, uid: number) => ({
    mode,
    uid,
    isFile: () => true,
    isDirectory: () => false,
    isFIFO: () => false,
    isSocket: () => false,
  });
  it.each([
    [undefined, 1000, 0o600, {}],
    [undefined, 1000, 0o400, { isWrittenByProgram: true }],
    [undefined, 0, 0o440, {}],
    [undefined, 0, 0o640, {}],
    ['has mode 0640, which lets others use it: run chmod 600 /key', 1000, 0o640, {}],
    ['has mode 0440, which lets others use it: run chmod 600 /key', 1000, 0o440, {}],
    ['has mode 0440, which lets others use it: run chmod 600 /key', 0, 0o440, { isWrittenByProgram: true }],
    ['has mode 0444, which lets others use it: run chmod 440 /key', 0, 0o444, {}],
    ['has mode 0660, which lets others use it: run chmod 440 /key', 0, 0o660, {}],
    ['has mode 0650, which lets others use it: run chmod 440 /key', 0, 0o650, {}],
    [
      'belongs to user 7, who is neither root nor the user of this program (1000): run this program as the owner, or run chown 1000 /key and ask who may have read or changed it',
      ...[7, 0o600, {}],
    ],
  ] as const)('to user 1000, say %s of a file of user %i with mode %i (%o)', (said, uid, mode, rule) => {
    expect(describeUntrustedFile('/key', file(0o100000 | mode, uid), { ...rule, own: 1000 })).toBe(said);
  });

  it('have links that only the program’s user or root can replace', () => {
    const link = (uid: number) => ({ path: '/etc/link', facts: { uid, mode: 0o777 } });
    const folder = (uid: number, mode: number) => ({ path: '/etc', facts: { uid, mode } });
    expect(describeUntrustedLink(link(0), folder(0, 0o755), 1000)).toBeUndefined();
    expect(describeUntrustedLink(link(1000), folder(1000, 0o1777), 1000)).toBeUndefined();
    expect(describeUntrustedLink(link(7), folder(0, 0o1777), 1000)).toContain('of user 7');
    expect(describeUntrustedLink(link(1000), folder(7, 0o755), 1000)).toContain('which user 7 can replace');
    expect(describeUntrustedLink(link(1000), folder(1000, 0o775), 1000)).toContain('run chmod go-w /etc');
  });

  it('are named in the error if they are missing', async () => {
    await expect(readPrivateFile(join(folder, 'none'), 'the server key')).rejects.toThrow(
      '(the server key) cannot be read',
    );
  });
});

describe('the retry delay', () => {
  it('doubles from the first delay up to the maximum, with jitter down to half of it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempt, random) => {
          const delay = retryDelayMilliseconds({
            attempt,
            firstMilliseconds: 1000,
            capMilliseconds: 3_600_000,
            random: () => random,
          });
          const whole = Math.min(3_600_000, 1000 * 2 ** (attempt - 1));
          expect(delay).toBeGreaterThanOrEqual(whole / 2);
          expect(delay).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});
