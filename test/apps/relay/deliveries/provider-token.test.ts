import { generateKeyPairSync } from 'node:crypto';
import { Secret } from '@waxwing/service/config';
import { decodeJwt, decodeProtectedHeader, importPKCS8 } from 'jose';
import { describe, expect, it } from 'vitest';
import type { ApnsApp } from '#relay/deliveries/vendors/apns/app.js';
import { ProviderToken, ProviderTokenStore } from '#relay/deliveries/vendors/apns/token.js';
import { type RelayTables, relayMigrations } from '#relay/tables.js';
import { createNodeTokenVault } from '../../../support/node-token-vault.js';
import { eachBackend, eachPostgres } from '../../../support/test-databases.js';
import { apnsRequest, apnsToken, startDeliveriesUnderTest } from './deliveries-under-test.js';

const minute = 60_000;

eachBackend((backend) => {
  async function setUp(processes: number) {
    const database = await backend.open<RelayTables>({ migrations: relayMigrations });
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    });
    const app: ApnsApp = {
      vendor: 'apns',
      teamId: 'TEAM123456',
      keyId: 'KEY1234567',
      privateKey: new Secret(await importPKCS8(pem.toString(), 'ES256')),
      fingerprint: 'fingerprint',
      keyFile: 'key.p8',
      topics: '*',
      hasFilteringEntitlement: false,
    };
    const vault = createNodeTokenVault();
    const time = { now: Date.UTC(2026, 0, 5, 12) };
    const store = new ProviderTokenStore(database, vault);
    const startProcess = (clockOffset = 0) =>
      new ProviderToken({ app, clock: () => time.now + clockOffset, store });
    const tokens = Array.from({ length: processes }, () => startProcess());
    return { database, time, tokens, store, startProcess };
  }

  describe('the provider token', () => {
    it('contains only the fields that Apple requires', async () => {
      const { tokens, time } = await setUp(1);
      const [, jwt = ''] = ((await tokens[0]?.get()) ?? '').split(' ');
      expect(decodeProtectedHeader(jwt)).toEqual({ alg: 'ES256', kid: 'KEY1234567' });
      expect(decodeJwt(jwt)).toEqual({ iss: 'TEAM123456', iat: time.now / 1000 });
    });

    it('is encrypted at rest and shared by all processes, even if they start concurrently', async () => {
      const { database, tokens } = await setUp(5);
      const held = await Promise.all(tokens.map((token) => token.get()));
      expect(new Set(held).size).toBe(1);
      const rows = await database.db.selectFrom('provider_tokens').selectAll().execute();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain(held[0]?.slice('bearer '.length));
    });

    it('is renewed once for all processes within an hour', async () => {
      const { tokens, time } = await setUp(3);
      const [first] = await Promise.all(tokens.map((token) => token.get()));
      time.now += 44 * minute;
      expect(await tokens[1]?.get()).toBe(first);
      time.now += 2 * minute;
      const renewed = await Promise.all(tokens.map((token) => token.get()));
      expect(new Set(renewed).size).toBe(1);
      expect(renewed[0]).not.toBe(first);
    });

    it('is replaced at most once per 20 minutes if Apple rejects it as too old', async () => {
      const { tokens, time } = await setUp(2);
      const first = await tokens[0]?.get();
      time.now += 19 * minute;
      await tokens[0]?.renew();
      expect(await tokens[0]?.get()).toBe(first);
      time.now += 2 * minute;
      await tokens[0]?.renew();
      const second = await tokens[0]?.get();
      expect(second).not.toBe(first);
      // The other process uses that token instead of minting a third token.
      await tokens[1]?.renew();
      expect(await tokens[1]?.get()).toBe(second);
    });

    it("is accepted by a process whose clock is slightly behind the minting process's clock", async () => {
      const { tokens, startProcess } = await setUp(1);
      const first = await tokens[0]?.get();
      expect(await startProcess(-30_000).get()).toBe(first);
    });

    it('is the first stored token if two processes mint at the same time', async () => {
      const { store, time } = await setUp(0);
      const olderThan = time.now - 45 * minute;
      const first = { authorization: 'bearer first', mintedAt: time.now };
      const second = { authorization: 'bearer second', mintedAt: time.now - 5 };
      expect(await store.replace('fingerprint', first, olderThan)).toEqual(first);
      expect(await store.replace('fingerprint', second, olderThan)).toEqual(first);
      expect(await store.find('fingerprint')).toEqual(first);
    });

    it('is used from memory for up to an hour while the database is down', async () => {
      const { database, tokens, time } = await setUp(1);
      const first = await tokens[0]?.get();
      await database.close();
      time.now += 58 * minute;
      expect(await tokens[0]?.get()).toBe(first);
      time.now += 2 * minute;
      await expect(tokens[0]?.get()).rejects.toThrow();
    });

    it('is replaced if the clock has been set back since it was minted', async () => {
      const { tokens, time } = await setUp(1);
      const first = await tokens[0]?.get();
      time.now -= 120 * minute;
      expect(await tokens[0]?.get()).not.toBe(first);
    });
  });
});

describe('two relays on one PostgreSQL', () => {
  eachPostgres((postgres) => {
    it('share one APNs provider token, even after APNs rejected it as too old', async () => {
      const databaseUrl = await postgres.freshUrl();
      const time = { now: Date.UTC(2026, 0, 5, 12) };
      const clock = () => time.now;
      const first = await startDeliveriesUnderTest({ databaseUrl, clock });
      const { vendors, ring, authorization, faults, statistics } = first;
      const second = await startDeliveriesUnderTest({ databaseUrl, clock, vendors, ring });
      try {
        await faults([{ vendor: 'apns', mint_interval_seconds: 1200 }]);
        const request = apnsRequest(await first.addApns(apnsToken()));
        const send = async () => {
          const answers = [await first.notify([request]), await second.notify([request], { authorization })];
          return answers.flatMap(({ body }) => body.results.map(({ status }) => status));
        };
        expect(await send()).toEqual(['sent', 'sent']);
        expect(await statistics()).toMatchObject({ apns: { provider_tokens_accepted: 1 } });
        time.now += 46 * minute;
        expect(await send()).toEqual(['sent', 'sent']);
        expect(await statistics()).toMatchObject({ apns: { provider_tokens_accepted: 2 } });
        time.now += 21 * minute;
        const rules = [{ vendor: 'apns', reason: 'ExpiredProviderToken', times: 1 }];
        await faults([...rules, { vendor: 'apns', mint_interval_seconds: 1200 }]);
        expect(await send()).toEqual(['sent', 'sent']);
        expect(await statistics()).toMatchObject({ apns: { provider_tokens_accepted: 3 } });
      } finally {
        await second.close();
        await first.close();
      }
    });
  });
});
