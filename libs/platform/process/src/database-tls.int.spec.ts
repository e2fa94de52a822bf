import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPool, startEmbeddedPostgres, type EmbeddedPostgres } from '@gateway/database';
import { describeWith } from '@gateway/dev-infra';
import { createSilentLogger } from '@gateway/runtime';
import { eventually } from '@gateway/test-support';
import { Client } from 'pg';

const openssl = {
  name: 'openssl',
  installHint: "Debian's package openssl brings it.",
  isAvailable: () => {
    try {
      execFileSync('openssl', ['version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  },
};

/** Creates a self-signed certificate for 127.0.0.1. */
function certify(folder: string, name: string): { certificate: string; key: string } {
  const [certificate, key] = [path.join(folder, `${name}.crt`), path.join(folder, `${name}.key`)];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  return { certificate, key };
}

describeWith(openssl, 'a database server with TLS', () => {
  let folder: string;
  let server: EmbeddedPostgres;
  let own: string;
  let foreign: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'gateway-tls-'));
    chmodSync(folder, 0o755);
    server = await startEmbeddedPostgres({ stateDirectory: folder, log: createSilentLogger() });
    const { certificate, key } = certify(folder, 'own');
    own = certificate;
    foreign = certify(folder, 'foreign').certificate;
    const client = new Client({ connectionString: server.adminUrl });
    await client.connect();
    const { rows } = await client.query<{ data: string }>(`select current_setting('data_directory') as data`);
    const { uid, gid } = statSync(rows[0]?.data ?? '');
    if (process.getuid?.() === 0) for (const file of [certificate, key]) chownSync(file, uid, gid);
    await client.query(`alter system set ssl_cert_file = ${client.escapeLiteral(certificate)}`);
    await client.query(`alter system set ssl_key_file = ${client.escapeLiteral(key)}`);
    await client.query('alter system set ssl = on');
    await client.query('select pg_reload_conf()');
    await client.end();
    await eventually('the server accepts TLS', async () =>
      (await connect(`sslmode=verify-full&sslrootcert=${own}`)).encrypted ? true : undefined,
    );
  });

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function connect(parameters: string): Promise<{ encrypted?: boolean; error?: string }> {
    const url = `${server.url}?${parameters}`;
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    try {
      const { rows } = await pool.query<{ ssl: boolean }>(
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
      );
      return { encrypted: rows[0]?.ssl === true };
    } catch (error) {
      return { error: (error as Error).message };
    } finally {
      await pool.end();
    }
  }

  it('is connected with encryption if its certificate is signed by the authority in the URL', async () => {
    expect(await connect(`sslmode=verify-full&sslrootcert=${own}`)).toEqual({ encrypted: true });
  });

  it('is refused if its certificate is signed by another or an unknown authority', async () => {
    expect(await connect(`sslmode=verify-full&sslrootcert=${foreign}`)).toEqual({
      error: expect.stringMatching(/certificate/),
    });
    expect(await connect('sslmode=verify-full')).toEqual({ error: expect.stringMatching(/certificate/) });
  });

  it('is refused under a host name that is not in its certificate', async () => {
    const elsewhere = server.url.replace('127.0.0.1', 'localhost');
    const url = `${elsewhere}?sslmode=verify-full&sslrootcert=${own}`;
    const pool = createPool({ url, schema: 'public', applicationName: 'test', maxConnections: 1 });
    await expect(pool.query('select 1')).rejects.toThrow(/localhost/);
    await pool.end();
  });
});
