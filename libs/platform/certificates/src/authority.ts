import 'reflect-metadata';
import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate and its private key, both PEM. */
export interface KeyPairPem {
  readonly certificate: string;
  readonly privateKey: string;
}

/** The files of a certificate, as certificate managers name them. */
export type CertificateFiles = Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>;

export function filesOf({ certificate, privateKey }: KeyPairPem, authority: KeyPairPem): CertificateFiles {
  return { 'ca.crt': authority.certificate, 'tls.crt': certificate, 'tls.key': privateKey };
}

export interface IssueOptions {
  readonly dnsNames: readonly string[];
  readonly validDays: number;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** A new certificate is valid immediately on machines whose clocks are slightly behind. */
const CLOCK_SKEW_MS = 5 * 60_000;

/** Creates the certificate authority of the services, which may sign certificates but no further authorities. */
export async function createAuthority(): Promise<KeyPairPem> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(AUTHORITY_DAYS),
    serialNumber: serialNumber(),
    name: 'CN=Inference Gateway services',
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: privateKeyPem(keys) };
}

/** Issues a certificate for both ends of mutual TLS. Its subject is the first DNS name. */
export async function issueCertificate(
  authority: KeyPairPem,
  { dnsNames, validDays }: IssueOptions,
): Promise<KeyPairPem> {
  const issuer = new X509Certificate(authority.certificate);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    ...validity(validDays),
    serialNumber: serialNumber(),
    subject: `CN=${dnsNames[0]}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await importPrivateKey(authority.privateKey),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(dnsNames.map((value) => ({ type: 'dns' as const, value }))),
    ],
  });
  return { certificate: certificate.toString('pem'), privateKey: privateKeyPem(keys) };
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - CLOCK_SKEW_MS), notAfter: new Date(now + days * DAY_MS) };
}

/** Positive, as RFC 5280 requires: its first bit is zero. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('hex');
}

function privateKeyPem({ privateKey }: webcrypto.CryptoKeyPair): string {
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function importPrivateKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
}
