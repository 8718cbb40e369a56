import { readFileSync } from 'node:fs';
import { ignoredReasons, type PushToken, statusSentences } from '@waxwing/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startPush } from '../../../docs/examples/push-in-an-app.js';
import { FakeChatServer } from './fake-chat-server.js';
import { bouncerKey, keyListAnswer, signer } from './key-list-maker.js';

const docs = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('client.md', docs), 'utf8');

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The codes in the first column of the tables below a heading. */
function codesBelow(heading: string): string[] {
  const section = page.split(/^##+ /m).find((text) => text.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| `([a-z-]+)` +\|/gm)].map((row) => row[1] ?? '');
}

describe('The page for app developers', () => {
  it('shows the example that is run here, to the letter', () => {
    const example = readFileSync(new URL('examples/push-in-an-app.ts', docs), 'utf8');
    const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((block) => block[1]);
    expect(blocks).toEqual([example]);
  });

  it('explains every status and every reason, and no other', () => {
    expect(codesBelow('What the status says').toSorted()).toEqual(Object.keys(statusSentences).toSorted());
    expect(codesBelow('Opening notifications').toSorted()).toEqual(Object.keys(ignoredReasons).toSorted());
  });
});

describe('The example for app developers', () => {
  it('registers, receives a message once, and forgets it all at sign-out', async () => {
    const server = new FakeChatServer();
    server.now = Date.now();
    server.addBouncerKey(2);
    const relaySigner = signer(100);
    const plan = { issuedAt: Math.floor(server.now / 1000), primary: bouncerKey(2), signer: relaySigner };
    server.keyList = keyListAnswer(plan);
    vi.stubGlobal('fetch', server.fetch);

    const texts = new Map<string, string>();
    const shown: string[] = [];
    const { url: realmUrl, userId, email, apiKey } = server;
    const push = await startPush(
      {
        signIn: { realmUrl, userId, email, apiKey },
        storage: {
          getItem: (name) => texts.get(name) ?? null,
          setItem: (name, text) => void texts.set(name, text),
          removeItem: (name) => void texts.delete(name),
        },
        pushToken: async (): Promise<PushToken> => ({ tokenKind: 'fcm', token: 'token' }),
        showStatus: (sentence) => shown.push(sentence),
        showNotification: (title, text) => shown.push(`${title}: ${text}`),
      },
      {
        bouncerPublicKey: bouncerKey(1),
        signingPublicKey: relaySigner.publicKey,
        recoveryPublicKey: signer(99).publicKey,
      },
    );

    await push.bringUpToDate();
    const message = {
      type: 'message',
      realm_url: realmUrl,
      user_id: userId,
      message_id: 45,
      time: 1773200000,
      content: 'Lunch?',
      sender_id: 6,
      sender_full_name: 'Iago',
      sender_avatar_url: `${realmUrl}/avatar/6`,
    };
    expect(await push.receive(server.pushTo(message))).toBe('message');
    expect(await push.receive(JSON.stringify(server.pushTo(message)))).toBe('repeat');
    expect(shown).toEqual(['Notifications are on for this phone.', 'Iago: Lunch?']);
    await push.signOut();
    expect(await push.receive(server.pushTo({ ...message, message_id: 46 }))).toBe('unknown-account');
  });
});
