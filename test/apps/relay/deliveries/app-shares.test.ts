import { beforeEach, describe, expect, it } from 'vitest';
import { AppShares } from '#relay/deliveries/breakers/app-shares.js';
import type { EncryptedNotification } from '#relay/deliveries/delivery.js';

const frozen = new Set<string>();
let shares: AppShares;
beforeEach(() => {
  frozen.clear();
  shares = new AppShares('app', (key) => frozen.has(key));
});

function scopesOf(realmUuid: string, serverId = 'x') {
  return shares.scopesOf({ realmUuid, serverId } as EncryptedNotification);
}

describe('the shares of an app', () => {
  it('are those of realm, server and app, each excluding the largest contributor', () => {
    const scopes = scopesOf('1');
    expect(scopes.map(({ app, scope, cause, key }) => [app, scope, cause, key])).toEqual([
      ['app', 'realm 1', undefined, 'app realm 1'],
      ['app', 'server x', 'realm 1', 'app server x'],
      ['app', '', 'server x', 'app '],
    ]);
    expect(scopesOf('1')).toBe(scopes);
    expect(['realm 1', 'server x', ''].map((scope) => shares.find(scope))).toEqual(
      scopes.map(({ share }) => share),
    );
    expect([shares.find('realm 2'), shares.find('server y')]).toEqual([undefined, undefined]);
  });

  it('are one scope per server for all its realms, and one for the app with all its servers', () => {
    const [one, another, elsewhere] = [scopesOf('1'), scopesOf('2'), scopesOf('3', 'y')].map((scopes) =>
      scopes.map(({ share }) => share),
    );
    expect([another?.[0] === one?.[0], another?.[1] === one?.[1], another?.[2] === one?.[2]]).toEqual([
      ...[false, true, true],
    ]);
    expect([elsewhere?.[1] === one?.[1], elsewhere?.[2] === one?.[2]]).toEqual([false, true]);
  });

  it('are frozen from the start if their scope is', () => {
    frozen.add('app server x');
    expect(scopesOf('1').map(({ share }) => share.isFrozen)).toEqual([false, true, false]);
    frozen.clear();
    frozen.add('app realm 2').add('app ');
    expect(scopesOf('2').map(({ share }) => share.isFrozen)).toEqual([true, false, true]);
  });

  it('are kept for the ten thousand most recent realms, and for all servers', () => {
    const [busy, server, app] = scopesOf('busy').map(({ share }) => share);
    for (let realm = 1; realm <= 10_000; realm += 1) {
      if (realm === 5000) scopesOf('busy');
      scopesOf(String(realm));
    }
    expect(shares.find('realm 1')).toBeUndefined();
    expect(shares.find('realm 2')).toBeDefined();
    expect(shares.find('realm busy')).toBe(busy);
    expect([shares.find('server x') === server, shares.find('') === app]).toEqual([true, true]);
  });
});
