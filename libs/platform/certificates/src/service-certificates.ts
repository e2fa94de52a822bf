import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate, type KeyPairPem } from './authority';

export interface ServiceCertificatesOptions {
  /** Names of services, such as "edge-proxy". */
  readonly services: readonly string[];
  /** Certificates name a service as `<service>.<domain>`. */
  readonly domain: string;
  /** Lifetime of the services' certificates. */
  readonly validDays: number;
}

const AUTHORITY_DAYS = 3_650;
const AUTHORITY_NAME = 'Inference Gateway services';

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
    writeKeyPair(join(folder, service), issued, authority.certificate);
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
  const created = await createAuthority(AUTHORITY_NAME, AUTHORITY_DAYS);
  writeKeyPair(folder, created, created.certificate);
  return created;
}

function writeKeyPair(folder: string, { certificate, privateKey }: KeyPairPem, authority: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(join(folder, 'ca.crt'), authority);
  replaceFile(join(folder, 'tls.key'), privateKey);
  replaceFile(join(folder, 'tls.crt'), certificate);
}

/** A service that reads the folder meanwhile sees the old file or the new one, never half of it. */
function replaceFile(file: string, text: string): void {
  const temporary = `${file}.new`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
}
