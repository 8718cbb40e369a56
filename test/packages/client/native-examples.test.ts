import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createMemoryPushAccountStore,
  createMemorySeenNotifications,
  createPushClient,
  type ExtensionAccount,
  exportForExtension,
  type PushAccount,
} from '@waxwing/client';
import { parsePushAccountId, parsePushKeyId } from '@waxwing/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { createBackgroundHandler } from '../../../docs/examples/native/background-handler.js';
import { parseNotificationName } from '../../../examples/expo-app/src/push/notification-name.js';
import { ownerOf, shareKeys, unshareKeys } from '../../../examples/expo-app/src/push/share-keys.js';
import {
  makeNativeVectors,
  type NativeVectors,
  nativeVectorsPath,
} from '../../vectors/make-native-vectors.js';
import { fromBase64 } from './fake-chat-server.js';

const examples = new URL('../../../docs/examples/native/', import.meta.url);
const nativeSources = new URL('../../../packages/client/native/', import.meta.url);
const vectors = JSON.parse(readFileSync(nativeVectorsPath, 'utf8')) as NativeVectors;
const shared = vectors.accounts.map((text) => JSON.parse(text) as ExtensionAccount);
const accounts: readonly PushAccount[] = shared.map((account) => ({
  pushAccountId: parsePushAccountId(account.pushAccountId) ?? (0n as never),
  realmUrl: `${account.realmOrigin}/`,
  userId: Number(account.userId),
  keyPair: { publicKey: fromBase64(account.publicKey), privateKey: fromBase64(account.privateKey) },
  device: {
    pushKeys: account.pushKeys.map(({ pushKeyId, key }) => ({
      pushKeyId: parsePushKeyId(pushKeyId) ?? (0 as never),
      key: fromBase64(key),
      createdAt: 1,
    })),
  },
  registration: {
    pushToken: { tokenKind: 'fcm', token: 'the-push-token' },
    bouncerPublicKey: account.publicKey,
    timestamp: 1773200000,
  },
}));

async function storeOf(rows: readonly PushAccount[]) {
  const store = createMemoryPushAccountStore();
  for (const row of rows) await store.put(row);
  return store;
}

async function phoneWith(rows: readonly PushAccount[]) {
  return createPushClient({
    bouncerPublicKey: shared[0]?.publicKey ?? '',
    pushToken: () => undefined,
    accounts: await storeOf(rows),
    seen: createMemorySeenNotifications(),
  });
}

describe('The vectors for native code', () => {
  it('match their generator', () => {
    expect(vectors).toEqual(makeNativeVectors());
  });

  it.each(vectors.pushes)(
    'give the expected result in the client: $name',
    async ({ push, expect: expected }) => {
      const opened = await (await phoneWith(accounts)).open(push);
      const found =
        opened.kind === 'ignored' ? { ignored: opened.reason } : { type: opened.notification.type };
      expect(found).toEqual('ignored' in expected ? expected : { type: expected.type });
    },
  );
});

describe('The state that native code keeps', () => {
  it('matches the state that the client keeps', async () => {
    const { capacity, messages } = vectors.seen;
    const seen = createMemorySeenNotifications(capacity);
    const found = [];
    for (const { pushAccountId, time, messageId } of messages) {
      const account = parsePushAccountId(pushAccountId) ?? (0n as never);
      const isNew = await seen.addIfNew({ pushAccountId: account, time, name: String(messageId) });
      found.push({ pushAccountId, time, messageId, isNew });
    }
    expect(found).toEqual(messages);
  });
});

describe('The state that native code receives', () => {
  it('consists of the keys and owner of an account, without token or registration', () => {
    expect(accounts.map(exportForExtension)).toEqual(vectors.accounts);
    expect(Object.keys(shared[0] ?? {})).toEqual([
      'version',
      'pushAccountId',
      'realmOrigin',
      'userId',
      'publicKey',
      'privateKey',
      'pushKeys',
    ]);
  });

  it('cannot be exported for an account whose organization has no web address', () => {
    const [account] = accounts;
    expect(() => exportForExtension({ ...(account as PushAccount), realmUrl: 'chat' })).toThrow(RangeError);
  });

  it('is stored under the name in the example, and removed at sign-out', async () => {
    const texts = new Map<string, string>();
    const keys = {
      put: async (id: string, text: string) => texts.set(id, text),
      remove: async (id: string) => texts.delete(id),
    };
    const store = await storeOf(accounts);
    await shareKeys(store, keys);
    expect([...texts.values()]).toEqual(vectors.accounts);
    const [first] = accounts as readonly [PushAccount];
    // A different user of the same organization.
    const other = { ...first, pushAccountId: 9n as PushAccount['pushAccountId'], userId: 77 };
    await store.put(other);
    await shareKeys(store, keys);
    await unshareKeys(store, keys, first);
    expect([...texts.values()]).toEqual([...vectors.accounts.slice(1), exportForExtension(other)]);
  });

  it('is removed at sign-out, whichever spelling of the URL was used at sign-in', async () => {
    const texts = new Map<string, string>();
    const keys = {
      put: async (id: string, text: string) => texts.set(id, text),
      remove: async (id: string) => texts.delete(id),
    };
    const [first] = accounts as readonly [PushAccount];
    const store = await storeOf([first]);
    await shareKeys(store, keys);
    await unshareKeys(store, keys, { ...first, realmUrl: `${first.realmUrl.toUpperCase()}/` });
    expect([...texts.keys()]).toEqual([]);
  });

  it('gives shown notifications a name that tells the app which message or payload was tapped', () => {
    const [account] = vectors.accounts as readonly [string];
    const owner = ownerOf(account);
    const { realmOrigin, userId } = JSON.parse(account) as ExtensionAccount;
    expect(parseNotificationName(`${owner} 45`)).toEqual({ realmOrigin, userId, messageId: '45' });
    expect(parseNotificationName(`${owner} p0d5b-_`)).toEqual({ realmOrigin, userId, payloadId: '0d5b-_' });
    expect([undefined, 7, '', owner, `${owner} `].map(parseNotificationName)).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('replaces the keys of an account with a new id, under the name that native code uses for messages', async () => {
    const texts = new Map<string, string>();
    const keys = {
      put: async (owner: string, text: string) => texts.set(owner, text),
      remove: async (owner: string) => texts.delete(owner),
    };
    const [first] = accounts as readonly [PushAccount];
    await shareKeys(await storeOf([first]), keys);
    const replaced = { ...first, pushAccountId: 9n as PushAccount['pushAccountId'] };
    await shareKeys(await storeOf([replaced]), keys);
    const { realmOrigin, userId } = JSON.parse(exportForExtension(first)) as Record<string, string>;
    expect([...texts]).toEqual([[`${realmOrigin} ${userId}`, exportForExtension(replaced)]]);
    for (const name of ['android/OpenPush.kt', 'ios/OpenPush.swift']) {
      const source = readFileSync(new URL(name, nativeSources), 'utf8');
      // Compares source text, because this test can run neither Kotlin nor Swift.
      expect(source, name).toMatch(
        /"\$\{account.optString\("realmOrigin"\)\} \$\{account.optString\("userId"\)\}"|"\\\(realmOrigin\) \\\(userId\)"/,
      );
    }
  });
});

describe('The background handler', () => {
  it('shows a message once, hides removed messages, and ignores everything else', async () => {
    const phone = await phoneWith(accounts);
    const log: string[] = [];
    const handle = createBackgroundHandler(async () => phone, {
      show: async (name, title) => log.push(`show ${name} ${title}`),
      hide: async (name) => log.push(`hide ${name}`),
    });
    const pushOf = (name: string) => ({
      data: vectors.pushes.find((vector) => vector.name === name)?.push ?? {},
    });
    await handle(pushOf('a message'));
    await handle(pushOf('a message'));
    await handle(pushOf('another user'));
    await handle({});
    await handle(pushOf('a payload'));
    await handle(pushOf('a payload'));
    await handle(pushOf('the removal of messages'));
    const [{ pushAccountId }] = accounts as readonly [PushAccount];
    const names = [45, 46].map((messageId) => `${pushAccountId} ${messageId}`);
    const payload = `${pushAccountId} p0d5b9d5e-6a5c-4f0e-9a39-3f0f0f8d9c51`;
    expect(log).toEqual([
      `show ${names[0]} Iago`,
      `show ${payload} Café`,
      `hide ${names[0]}`,
      `hide ${names[1]}`,
    ]);
  });
});

/** Returns whether libsodium's headers are installed. If they are not, prints how to install them. */
function hasLibsodium(): boolean {
  try {
    execFileSync('cc', ['-E', '-include', 'sodium.h', '-x', 'c', '/dev/null', '-o', '/dev/null'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    console.log(
      'The steps in C are skipped: install a C compiler and libsodium (Debian: gcc, libsodium-dev).',
    );
    return false;
  }
}

describe.runIf(hasLibsodium())('The steps in C, on libsodium itself', () => {
  const directory = mkdtempSync(join(tmpdir(), 'waxwing-c-'));
  const program = join(directory, 'open_push');

  beforeAll(() => {
    const source = new URL('open_push.c', examples).pathname;
    const strict = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-pedantic'];
    execFileSync('cc', [...strict, '-o', program, source, '-lsodium']);
    const lines = shared.flatMap(({ pushAccountId, publicKey, privateKey, pushKeys }) => [
      ['push_account_id', pushAccountId, publicKey, privateKey].join(' '),
      ...pushKeys.map(({ pushKeyId, key }) => ['push_key_id', pushKeyId, key].join(' ')),
    ]);
    writeFileSync(join(directory, 'accounts'), `${lines.join('\n')}\n`);
    return () => rmSync(directory, { recursive: true, force: true });
  });

  function open({
    push_key_id: keyId,
    push_account_id: accountId = '',
    encrypted_data: data,
  }: NativeVectors['pushes'][number]['push']): string {
    const accountsFile = openSync(join(directory, 'accounts'), 'r');
    try {
      const stdio = [accountsFile, 'pipe', 'inherit'] as const;
      const id = keyId === undefined ? ['push_account_id', accountId] : ['push_key_id', keyId];
      return execFileSync(program, [...id, data], {
        encoding: 'utf8',
        stdio: [...stdio],
      });
    } finally {
      closeSync(accountsFile);
    }
  }

  // The C program skips step 4, which needs a JSON parser, so it opens pushes that only step 4 ignores.
  it.each(vectors.pushes)('$name', ({ push, expect: expected }) => {
    const printed = open(push);
    if (!('ignored' in expected)) expect(printed.trimEnd()).toBe(expected.plaintext);
    else if (['unknown-type', 'wrong-account'].includes(expected.ignored))
      expect(printed).not.toMatch(/^ignored/);
    else expect(printed).toBe(`ignored: ${expected.ignored}\n`);
  });

  it('read at most 8192 characters of a box', () => {
    const push_account_id = shared[0]?.pushAccountId ?? '';
    const boxOf = (characters: number) => ({ push_account_id, encrypted_data: 'A'.repeat(characters) });
    expect(open(boxOf(8192))).toBe('ignored: cannot-open\n');
    expect(open(boxOf(8196))).toBe('ignored: not-encrypted-push\n');
  });
});

describe('The page about React Native', () => {
  const page = readFileSync(new URL('../../../docs/react-native.md', import.meta.url), 'utf8');
  const included = [...page.matchAll(/<!-- the text of (\S+) -->\n```\w+\n(.*?)^```$/gms)];

  it('shows each native example verbatim', () => {
    for (const [, name = '', text] of included) {
      expect(text, name).toBe(readFileSync(new URL(`../../${name}`, examples), 'utf8'));
    }
    expect(included.map(([, name = '']) => name.replace('examples/native/', '')).sort()).toEqual([
      '../examples/expo-app/src/push/share-keys.ts',
      'background-handler.ts',
      'open_push.c',
    ]);
  });

  it('explains each field that native code receives, and names files that exist', () => {
    const fields = Object.keys(shared[0] ?? {});
    expect(fields).toContain('pushAccountId');
    for (const field of fields) expect(page).toMatch(new RegExp(`^\\| \`${field}\` `, 'm'));
    const links = [...page.matchAll(/\]\((examples\/[^)#]+)\)/g)].map(([, path]) => path ?? '');
    expect(links.filter((path) => !existsSync(new URL(`../../${path}`, examples)))).toEqual([]);
  });
});
