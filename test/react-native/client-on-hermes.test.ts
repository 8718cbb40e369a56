import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { encodePushAccount } from '@waxwing/client';
import { parsePushAccountId } from '@waxwing/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../packages/client/fake-chat-server.js';
import { bouncerKey, keyListAnswer, signer } from '../packages/client/key-list-maker.js';
import { openSealed, seal } from '../support/noble-oracle.js';
import { relayProtocolVectors } from '../support/protocol-vectors.js';
import { createMetroProject, type MetroProject } from './metro-project.js';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const root = join(import.meta.dirname, '../..');

const platformFolder = process.platform === 'darwin' ? 'osx-bin' : 'linux64-bin';
/**
 * The newest Hermes engine on npm that runs programs on Linux. The current compiler is a separate package, which only
 * compiles.
 */
const hermesEngine = join(root, 'node_modules/hermes-engine-cli', platformFolder, 'hermes');
const hermesCompiler = join(
  dirname(require.resolve('hermes-compiler')),
  'hermesc',
  platformFolder,
  'hermesc',
);

const { gen11 } = relayProtocolVectors();
const id = '9223372036854775807';
const relaySigner = signer(100);
const bouncer = { publicKey: bouncerKey(2), privateKey: new Uint8Array(32).fill(2) };
const { realm_url: realmUrl, user_id: userId } = JSON.parse(gen11.plaintext);
const message = {
  type: 'message',
  realm_url: realmUrl,
  user_id: userId,
  message_id: 45,
  time: 1773200000,
  content: 'café ☕…',
  sender_id: 6,
  sender_full_name: 'Iago',
  sender_avatar_url: `${realmUrl}/avatar/6`,
};
const sealedMessage = toBase64(
  seal(
    new TextEncoder().encode(JSON.stringify(message)),
    fromBase64(gen11.push_public_key),
    new Uint8Array(32).fill(7),
  ),
);
const push = (data: string) => `{"push_account_id":${id},"encrypted_data":"${data}","aps":{}}`;

function scenario() {
  const account = {
    pushAccountId: parsePushAccountId(id) ?? (0n as never),
    realmUrl,
    userId,
    keyPair: {
      publicKey: fromBase64(gen11.push_public_key),
      privateKey: fromBase64(gen11.client_private_key),
    },
  };
  const issuedAt = Math.floor(Date.now() / 1000);
  return {
    signIn: { realmUrl, userId, email: 'hamlet@example.com', apiKey: 'key, ünicode' },
    realmUuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
    accountText: encodePushAccount(account),
    pushToken: { tokenKind: 'fcm', token: 'jeton:1-a_b' },
    keyList: keyListAnswer({ issuedAt, primary: bouncer.publicKey, signer: relaySigner }),
    relayKeys: {
      bouncerPublicKey: bouncerKey(1),
      signingPublicKey: relaySigner.publicKey,
      recoveryPublicKey: signer(99).publicKey,
    },
    pushes: [gen11.encrypted_data, sealedMessage, sealedMessage, sealedMessage.slice(0, -4)].map(push),
  };
}

describe('On React Native', () => {
  let project: MetroProject;
  let bundle: string;

  beforeAll(async () => {
    const text = (name: string) => readFile(join(import.meta.dirname, name), 'utf8');
    const libsodium = 'node_modules/react-native-libsodium';
    project = await createMetroProject({
      'index.js': await text('app/index.js'),
      'platform.js': await text('app/platform.js'),
      'scenario.json': JSON.stringify(scenario()),
      'push-in-an-app.ts': await text('../../docs/examples/push-in-an-app.ts'),
      'noble-oracle.ts': await text('../support/noble-oracle.ts'),
      [`${libsodium}/package.json`]: '{ "name": "react-native-libsodium", "version": "1.7.0" }',
      [`${libsodium}/index.js`]: await text('app/react-native-libsodium.js'),
    });
    bundle = await project.bundle('index.js');
  }, 300_000);
  afterAll(async () => {
    await project?.remove();
  });

  it('Metro bundles the published packages in a project that has neither zod nor libsodium-wrappers', async () => {
    const code = await readFile(bundle, 'utf8');
    expect(code).toContain('createPushClient');
  });

  it('the current Hermes compiler compiles the bundle', async () => {
    const bytecode = `${bundle}.hbc`;
    await run(hermesCompiler, ['-w', '-O', '-emit-binary', '-out', bytecode, bundle]);
    expect((await readFile(bytecode)).length).toBeGreaterThan(10_000);
  });

  it('Hermes 0.12 has every array and string method that the client calls', async () => {
    const program = join(dirname(bundle), 'methods.js');
    await writeFile(
      program,
      'print(JSON.stringify([Array, String, Uint8Array.__proto__].map(({ prototype }) => Object.getOwnPropertyNames(prototype))))',
    );
    const { stdout } = await run(hermesEngine, [program]);
    const known = new Set((JSON.parse(stdout) as string[][]).flat());
    const all = [Array, String, Object.getPrototypeOf(Uint8Array)].flatMap(({ prototype }) =>
      Object.getOwnPropertyNames(prototype),
    );
    const missing = all.filter((name) => !known.has(name));
    expect(missing).toContain('at');
    const calls = new RegExp(`\\.(${missing.join('|')})\\(`);
    const folder = join(root, 'packages/client/src');
    const names = await readdir(folder, { recursive: true });
    for (const name of names.filter((each) => each.endsWith('.ts')))
      expect(await readFile(join(folder, name), 'utf8'), name).not.toMatch(calls);
  });

  it('Hermes 0.12 runs the example: it registers, opens a message once, and ignores other pushes', async () => {
    const { stdout } = await run(hermesEngine, ['-w', bundle]);
    expect(stdout).toMatch(/^\{/);
    const { forms, shown, logged, received, kept } = JSON.parse(stdout);
    expect(shown).toEqual(['Notifications are on for this phone.', 'Iago: café ☕…']);
    expect(logged).toEqual(['{"code":"active"}']);
    expect(received).toEqual(['test', 'message', 'repeat', 'cannot-open']);
    expect(kept).not.toContain('waxwing.accounts');

    expect(forms).toHaveLength(1);
    expect(forms[0]).toMatchObject({
      token_kind: 'fcm',
      push_account_id: id,
      push_public_key: gen11.push_public_key,
      bouncer_public_key: bouncer.publicKey,
    });
    const sealed = fromBase64(forms[0].encrypted_push_registration);
    const plaintext = openSealed(sealed, fromBase64(bouncer.publicKey), bouncer.privateKey);
    expect(JSON.parse(new TextDecoder().decode(plaintext))).toMatchObject({
      token_kind: 'fcm',
      token: 'jeton:1-a_b',
      audience: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
    });
  });
});
