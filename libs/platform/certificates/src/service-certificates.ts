import { join } from 'node:path';
import { createAuthority, filesOf, issueCertificate, type KeyPairPem } from './authority';
import { readIfPresent, writeFiles } from './files';

export interface ServiceCertificatesOptions {
  /** Names of services, such as "edge-proxy". */
  readonly services: readonly string[];
  /** Certificates name a service as `<service>.<domain>`. */
  readonly domain: string;
  /** Lifetime of the services' certificates. */
  readonly validDays: number;
}

/**
 * Writes `<folder>/<service>/{ca.crt,tls.crt,tls.key}` for each service. The
 * authority is in `<folder>/authority`: created when absent, reused afterwards,
 * so that running services accept the renewed certificates.
 */
export async function writeServiceCertificates(
  folder: string,
  { services, domain, validDays }: ServiceCertificatesOptions,
): Promise<void> {
  const authority = await openAuthority(join(folder, 'authority'));
  for (const service of services) {
    const issued = await issueCertificate(authority, { dnsNames: [`${service}.${domain}`], validDays });
    writeFiles(join(folder, service), filesOf(issued, authority));
  }
}

async function openAuthority(folder: string): Promise<KeyPairPem> {
  const certificate = readIfPresent(join(folder, 'tls.crt'));
  const privateKey = readIfPresent(join(folder, 'tls.key'));
  if (certificate !== undefined && privateKey !== undefined) return { certificate, privateKey };
  const created = await createAuthority();
  writeFiles(folder, filesOf(created, created));
  return created;
}
