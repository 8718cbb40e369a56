import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAuthorities } from '@waxwing/service/config';
import { startVendors } from '@waxwing/vendors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'waxwing-authorities-'));
const file = join(dir, 'ca.pem');
let pem = '';
beforeAll(async () => {
  const vendors = await startVendors({ dataDir: join(dir, 'vendors') });
  pem = readFileSync(vendors.credentials.caFile, 'utf8');
  await vendors.close();
});
afterAll(() => rmSync(dir, { recursive: true }));

async function read(text: string): Promise<string> {
  writeFileSync(file, text);
  return readAuthorities(file, 'RELAY_APNS_CA_FILE');
}

describe('the file with the certificate authorities for APNs', () => {
  it.each<[string, (text: string) => string]>([
    ['as openssl writes it', (text) => text],
    ['with a byte-order mark and CRLF line breaks', (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`],
    ['on one line', (text) => text.replaceAll('\n', ' ')],
    ['with literal \\n', (text) => text.replaceAll('\n', '\\n')],
    ['after other text', (text) => `Our authority\n${text}`],
  ])('is accepted %s', async (_name, change) => {
    expect(await read(change(pem))).toBe(pem);
  });

  it('may hold several certificates', async () => {
    expect(await read(`${pem}and\n${pem}`)).toBe(pem + pem);
  });

  it.each(['', 'hello', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'])(
    'is rejected without a certificate, with a remedy: %j',
    async (text) => {
      await expect(read(text)).rejects.toThrow(
        `RELAY_APNS_CA_FILE: the file ${file} contains no PEM certificate: use one that begins with -----BEGIN CERTIFICATE-----.`,
      );
    },
  );

  it('is named in the error if it is missing', async () => {
    await expect(readAuthorities(join(dir, 'nowhere'), 'RELAY_APNS_CA_FILE')).rejects.toThrow(
      /RELAY_APNS_CA_FILE: .* no such file/,
    );
  });
});
