import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A TLS listener's certificate and private key, and the CA that clients must trust, all in PEM. */
export interface TlsIdentity {
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

// Fixed dates: clients check them against the real clock, but the stand-ins' clock may be set to any time. RFC 5280
// section 4.1.2.5 reserves this end date for "no well-defined expiration date".
const notBefore = new Date('2025-01-01T00:00:00Z');
const notAfter = new Date('9999-12-31T23:59:59Z');

/**
 * Creates a certificate authority, and a server certificate that the authority signs. Discards the authority's private
 * key.
 * @param hosts DNS names and IP addresses that the certificate covers.
 */
export async function makeTlsIdentity(hosts: readonly string[]): Promise<TlsIdentity> {
  const authorityKeys = await generateKeys();
  const authority = await makeAuthority(authorityKeys);
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create({
    serialNumber: randomSerialNumber(),
    subject: 'CN=APNs stand-in',
    issuer: authority.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host })),
      ),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authority),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    ca: `${authority.toString('pem')}\n`,
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}

async function makeAuthority(keys: webcrypto.CryptoKeyPair): Promise<X509Certificate> {
  return X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerialNumber(),
    name: 'CN=Waxwing vendors test authority',
    notBefore,
    notAfter,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Returns 16 random bytes in hexadecimal, which DER encodes as a positive integer without padding. */
function randomSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}
