import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { X509Certificate } from 'node:crypto';
import { createAuthority, issueCertificate } from '@gateway/certificates';
import { parsePublicKeys, parseSigningKeys, PUBLIC_KEYS_FILE, SIGNING_KEYS_FILE } from '@gateway/actors';
import { renewActorKeys } from './renew-actor-keys';
import { renewSecrets } from './renew-secrets';
import { createSecretStore, type SecretStore } from './secret-store';

const SERVICES = ['auth', 'edge-proxy'];
const OPTIONS = { services: SERVICES, domain: 'gateway.test', validDays: 90, prefix: 'my' };
const NAMES = ['my-rpc-authority', 'my-auth-rpc-tls', 'my-edge-proxy-rpc-tls'];
const SIGNERS = ['dashboard-api', 'demo'];
const KEY_NAMES = ['my-dashboard-api-actor-keys', 'my-demo-actor-keys', 'my-actor-public-keys'];

/** The part of the Kubernetes API that concerns secrets, with its optimistic concurrency. */
class ApiServer {
  readonly secrets = new Map<string, { version: number; data: Record<string, string> }>();
  readonly refusals: string[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const name = request.url?.replace('/api/v1/namespaces/here/secrets/', '') ?? '';
      const secret = this.secrets.get(name);
      const respond = (status: number, body: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const isAllowed = request.headers.authorization === 'Bearer token';
      if (secret === undefined || !isAllowed) {
        const message = isAllowed ? `secrets "${name}" not found` : 'Unauthorized';
        return void respond(isAllowed ? 404 : 401, { message });
      }
      const view = () => ({ metadata: { resourceVersion: String(secret.version) }, data: secret.data });
      if (request.method === 'GET') return void respond(200, view());
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const { metadata, stringData } = JSON.parse(body);
        if (metadata.resourceVersion !== String(secret.version)) {
          this.refusals.push(name);
          return void respond(409, { message: 'the object has been modified' });
        }
        secret.version += 1;
        for (const [key, value] of Object.entries<string>(stringData)) {
          secret.data[key] = Buffer.from(value).toString('base64');
        }
        respond(200, view());
      });
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe('certificates in the secrets of a namespace', () => {
  let api: ApiServer;
  let store: SecretStore;
  let url: string;

  beforeEach(async () => {
    api = new ApiServer();
    for (const name of [...NAMES, ...KEY_NAMES]) api.secrets.set(name, { version: 1, data: {} });
    url = await api.start();
    store = createSecretStore({ url, token: 'token', namespace: 'here' });
  });
  afterEach(() => api.stop());

  const certificate = async (name: string) =>
    new X509Certificate((await store.read(name)).data['tls.crt'] ?? '');

  it('issues a certificate per service and leaves current ones alone', async () => {
    expect(await renewSecrets(store, OPTIONS)).toEqual(SERVICES);
    const authority = await certificate('my-rpc-authority');
    for (const service of SERVICES) {
      const issued = await certificate(`my-${service}-rpc-tls`);
      expect(issued.subjectAltName).toBe(`DNS:${service}.gateway.test`);
      expect(issued.verify(authority.publicKey)).toBe(true);
    }
    expect(await renewSecrets(store, OPTIONS)).toEqual([]);
  });

  it('renews a certificate that is valid for less than a third of its lifetime, under the same authority', async () => {
    await renewSecrets(store, { ...OPTIONS, validDays: 20 });
    const authority = await certificate('my-rpc-authority');
    expect(await renewSecrets(store, OPTIONS)).toEqual(SERVICES);
    expect((await certificate('my-auth-rpc-tls')).verify(authority.publicKey)).toBe(true);
    expect((await certificate('my-rpc-authority')).serialNumber).toBe(authority.serialNumber);
  });

  it('issues a new certificate when the domain changes', async () => {
    await renewSecrets(store, OPTIONS);
    expect(await renewSecrets(store, { ...OPTIONS, domain: 'other.test' })).toEqual(SERVICES);
  });

  it('issues a new certificate in place of one that is unreadable or of another authority', async () => {
    await renewSecrets(store, OPTIONS);
    const foreign = await issueCertificate(await createAuthority(), {
      dnsNames: ['edge-proxy.gateway.test'],
      validDays: 90,
    });
    const replace = async (name: string, certificate: string) =>
      store.write(name, (await store.read(name)).version, { 'tls.crt': certificate });
    await replace('my-auth-rpc-tls', 'not a certificate');
    await replace('my-edge-proxy-rpc-tls', foreign.certificate);
    expect(await renewSecrets(store, OPTIONS)).toEqual(SERVICES);
    expect(await renewSecrets(store, OPTIONS)).toEqual([]);
  });

  it('ends with one authority when two runs start together', async () => {
    await Promise.all([renewSecrets(store, OPTIONS), renewSecrets(store, OPTIONS)]);
    expect(api.refusals.length).toBeGreaterThan(0);
    const authority = await certificate('my-rpc-authority');
    for (const service of SERVICES) {
      expect((await certificate(`my-${service}-rpc-tls`)).verify(authority.publicKey)).toBe(true);
    }
  });

  describe('with the keys of assertions', () => {
    const renew = () => renewActorKeys(store, { prefix: 'my', signers: SIGNERS, rotationDays: 90 });
    const idsOf = async (signer: string) =>
      parseSigningKeys((await store.read(`my-${signer}-actor-keys`)).data[SIGNING_KEYS_FILE] ?? '').keys.map(
        ({ kid }) => kid,
      );
    const published = async () => (await store.read('my-actor-public-keys')).data[PUBLIC_KEYS_FILE] ?? '';

    it('creates a key per signer, publishes the public parts, and leaves current keys alone', async () => {
      expect(await renew()).toEqual(KEY_NAMES);
      const ids = [...(await idsOf('dashboard-api')), ...(await idsOf('demo'))];
      expect(parsePublicKeys(await published()).keys.map(({ kid }) => kid)).toEqual(ids);
      expect(await published()).not.toContain('"d"');
      expect(await renew()).toEqual([]);
    });

    it('ends with one key per signer, and publishes it, when two runs start together', async () => {
      await Promise.all([renew(), renew()]);
      const ids = [...(await idsOf('dashboard-api')), ...(await idsOf('demo'))];
      expect(ids).toHaveLength(2);
      expect(parsePublicKeys(await published()).keys.map(({ kid }) => kid)).toEqual(ids);
    });
  });

  it('reports a secret that does not exist and a token that is refused', async () => {
    await expect(store.read('other')).rejects.toThrow('secrets "other" not found');
    const refused = createSecretStore({ url, token: 'wrong', namespace: 'here' });
    await expect(refused.read('my-auth-rpc-tls')).rejects.toThrow('401: Unauthorized');
  });
});
