import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAuthority,
  filesOf,
  issueCertificate,
  type CertificateFiles,
  type KeyPairPem,
} from './authority';

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
  try {
    return {
      certificate: readFileSync(join(folder, 'tls.crt'), 'utf8'),
      privateKey: readFileSync(join(folder, 'tls.key'), 'utf8'),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const created = await createAuthority();
  writeFiles(folder, filesOf(created, created));
  return created;
}

function writeFiles(folder: string, files: CertificateFiles): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files)) replaceFile(join(folder, name), text);
}

/** A concurrent reader sees the old file or the new one, never a part of it. */
function replaceFile(file: string, text: string): void {
  const temporary = `${file}.new`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
}
