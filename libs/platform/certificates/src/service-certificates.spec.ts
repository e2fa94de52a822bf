import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeServiceCertificates } from './service-certificates';

const OPTIONS = { services: ['auth', 'edge-proxy'], domain: 'gateway.test', validDays: 90 };

describe('certificates of services', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-certificates-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const read = (...names: string[]) => readFileSync(join(folder, ...names), 'utf8');

  it('names each service, is signed by the authority, and fits its key', async () => {
    await writeServiceCertificates(folder, OPTIONS);
    const authority = new X509Certificate(read('authority', 'tls.crt'));
    for (const service of OPTIONS.services) {
      const certificate = new X509Certificate(read(service, 'tls.crt'));
      expect(certificate.subjectAltName).toBe(`DNS:${service}.gateway.test`);
      expect(certificate.checkIssued(authority)).toBe(true);
      expect(certificate.verify(authority.publicKey)).toBe(true);
      expect(certificate.checkPrivateKey(createPrivateKey(read(service, 'tls.key')))).toBe(true);
      expect(certificate.ca).toBe(false);
      expect(read(service, 'ca.crt')).toBe(read('authority', 'tls.crt'));
    }
  });

  it('renews certificates under the same authority', async () => {
    await writeServiceCertificates(folder, OPTIONS);
    const [authority, first] = [read('authority', 'tls.crt'), read('auth', 'tls.crt')];
    await writeServiceCertificates(folder, OPTIONS);
    expect(read('authority', 'tls.crt')).toBe(authority);
    expect(read('auth', 'tls.crt')).not.toBe(first);
    expect(
      new X509Certificate(read('auth', 'tls.crt')).verify(new X509Certificate(authority).publicKey),
    ).toBe(true);
  });

  it('keeps private keys readable for their owner only', async () => {
    await writeServiceCertificates(folder, OPTIONS);
    expect(statSync(join(folder, 'auth', 'tls.key')).mode & 0o077).toBe(0);
  });
});
