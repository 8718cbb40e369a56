import { describe, expect, it } from 'vitest';
import { addressesBehind } from './addresses-behind.js';

const own = (address: string) => ({
  of: address,
  nearest: address,
  forwardedBy: undefined,
  limited: address,
  isForwarding: false,
});
const passedOn = (address: string) => ({
  of: address,
  nearest: address,
  forwardedBy: address,
  limited: undefined,
  isForwarding: true,
});

describe('the address of a request', () => {
  it('is the address of its connection without configured proxies, regardless of headers', () => {
    const { said, warnings } = addressesBehind();
    expect(said('8.8.8.8', '9.9.9.9')).toEqual(own('8.8.8.8'));
    expect(warnings()).toEqual([]);
  });

  it('is the /64 prefix of an IPv6 address', () => {
    const { said } = addressesBehind('10.0.0.1');
    const { of } = said('2001:db8:1:2:3::4');
    expect(said('2001:db8:1:2:ffff::1').of).toBe(of);
    expect(said('2001:db8:1:3::4').of).not.toBe(of);
    expect(said('10.0.0.1', '2001:db8:1:2::9').of).toBe(of);
    expect(said('2001:db8:1:2:3::4').nearest).toBe(of);
  });

  it('is unknown for a private address if no proxy is configured, which is logged once', () => {
    const { said, warnings } = addressesBehind();
    for (const address of ['10.0.0.1', '192.168.0.1']) {
      expect(said(address)).toEqual({ ...own(address), of: undefined, limited: undefined });
    }
    expect(warnings()).toMatchObject([
      { address: '10.0.0.1', msg: expect.stringContaining('RELAY_TRUSTED_PROXIES') },
    ]);
  });

  it('is the forwarded address only behind a trusted proxy', () => {
    const { said, warnings } = addressesBehind('10.0.0.1');
    expect(said('10.0.0.1', '9.9.9.9, 8.8.8.8')).toEqual(passedOn('8.8.8.8'));
    expect(said('10.0.0.1', ['9.9.9.9', '8.8.8.8'])).toEqual(passedOn('8.8.8.8'));
    expect(said('10.0.0.2', '9.9.9.9')).toEqual(own('10.0.0.2'));
    expect(warnings()).toEqual([]);
  });

  it('is the address of the proxy if the proxy forwards none', () => {
    const { said, warnings } = addressesBehind('10.0.0.1');
    expect(said('10.0.0.1')).toEqual(passedOn('10.0.0.1'));
    expect(warnings()).toEqual([]);
  });

  it('is unknown once the connection is closed', () => {
    for (const proxies of [[], ['10.0.0.1']]) {
      const { said, warnings } = addressesBehind(...proxies);
      const nowhere = { of: undefined, forwardedBy: undefined, limited: undefined, isForwarding: false };
      expect(said(undefined, '9.9.9.9')).toMatchObject(nowhere);
      expect(warnings()).toEqual([]);
    }
  });
});
