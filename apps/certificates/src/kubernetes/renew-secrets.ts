import { X509Certificate } from 'node:crypto';
import { createAuthority, filesOf, issueCertificate, type KeyPairPem } from '@gateway/certificates';
import type { SecretStore } from './secret-store';
import { updateSecret } from './update-secret';

export interface RenewOptions {
  readonly services: readonly string[];
  readonly domain: string;
  readonly validDays: number;
  /** Before the names of the secrets. */
  readonly prefix: string;
}

const DAY_MS = 86_400_000;

/**
 * Issues the certificates that are missing or unreadable, or valid for less than a
 * third of their lifetime. Two runs at a time are safe: the loser of a write reads again.
 *
 * @returns the services whose certificates were issued.
 */
export async function renewSecrets(store: SecretStore, options: RenewOptions): Promise<readonly string[]> {
  const { services, domain, validDays, prefix } = options;
  if (services.length === 0) return [];
  const authority = await openAuthority(store, `${prefix}-rpc-authority`);
  const renewed: string[] = [];
  for (const service of services) {
    const name = `${prefix}-${service}-rpc-tls`;
    const dnsName = `${service}.${domain}`;
    const wasIssued = await updateSecret(store, name, async ({ data }) => {
      if (isCurrent(data['tls.crt'], { authority, dnsName, validDays })) return undefined;
      return filesOf(await issueCertificate(authority, { dnsNames: [dnsName], validDays }), authority);
    });
    if (wasIssued) renewed.push(service);
  }
  return renewed;
}

async function openAuthority(store: SecretStore, name: string): Promise<KeyPairPem> {
  await updateSecret(store, name, async ({ data }) => {
    if (data['tls.key'] !== undefined) return undefined;
    const created = await createAuthority();
    return filesOf(created, created);
  });
  const { data } = await store.read(name);
  const { 'tls.crt': certificate, 'tls.key': privateKey } = data;
  if (certificate === undefined || privateKey === undefined) throw new Error(`${name} holds no authority`);
  return { certificate, privateKey };
}

interface Wanted {
  readonly authority: KeyPairPem;
  readonly dnsName: string;
  readonly validDays: number;
}

function isCurrent(pem: string | undefined, { authority, dnsName, validDays }: Wanted): boolean {
  const certificate = pem === undefined ? undefined : parseCertificate(pem);
  if (certificate === undefined) return false;
  const leftMs = Date.parse(certificate.validTo) - Date.now();
  return (
    certificate.subjectAltName === `DNS:${dnsName}` &&
    certificate.verify(new X509Certificate(authority.certificate).publicKey) &&
    leftMs > (validDays / 3) * DAY_MS
  );
}

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
