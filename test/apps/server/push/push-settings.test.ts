import { readServerEnvironment } from '@waxwing/server';
import { describe, expect, it } from 'vitest';

describe('the push settings', () => {
  it('default to a key file next to the database file, and have no default for other databases', () => {
    const fileOf = (url: string) => readServerEnvironment({ SERVER_DATABASE: url }).pushAccount.keyFile;
    expect(fileOf('sqlite:/var/lib/waxwing/server.sqlite')).toBe('/var/lib/waxwing/waxwing-server.key');
    expect(fileOf('postgres://db')).toBeUndefined();
  });

  it('never show the URL of a proxy, which may contain a password', () => {
    const secret = 'socks5://user:hunter2@proxy.example';
    const reading = () => readServerEnvironment({ SERVER_RELAY_PROXY: secret });
    expect(reading).toThrow(/^SERVER_RELAY_PROXY is not the URL of an HTTP proxy, and is not shown/);
    expect(reading).not.toThrow('hunter2');
    const { relayNetwork } = readServerEnvironment({
      SERVER_RELAY_PROXY: 'http://user:hunter2@proxy.example',
    });
    expect(JSON.stringify(relayNetwork)).not.toContain('hunter2');
  });
});
