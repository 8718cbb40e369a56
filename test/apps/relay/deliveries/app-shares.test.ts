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

describe('the shares of dead tokens of an app', () => {
  it('exist for the realm, the server and the app, each with the cause of a dead token', () => {
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

  it('are common to all realms of a server, and to all servers of the app', () => {
    const [one, another, elsewhere] = [scopesOf('1'), scopesOf('2'), scopesOf('3', 'y')].map((scopes) =>
      scopes.map(({ share }) => share),
    );
    expect([another?.[0] === one?.[0], another?.[1] === one?.[1], another?.[2] === one?.[2]]).toEqual([
      ...[false, true, true],
    ]);
    expect([elsewhere?.[1] === one?.[1], elsewhere?.[2] === one?.[2]]).toEqual([false, true]);
  });

  it('start frozen if their scope is frozen', () => {
    frozen.add('app server x');
    expect(scopesOf('1').map(({ share }) => share.isFrozen)).toEqual([false, true, false]);
    frozen.clear();
    frozen.add('app realm 2').add('app ');
    expect(scopesOf('2').map(({ share }) => share.isFrozen)).toEqual([true, false, true]);
  });

  it('are kept for the 10,000 most recently used realms, and for all servers', () => {
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
