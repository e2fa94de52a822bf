import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../client';
import { isRpcUnavailable } from '../rpc-error';
import type { RpcTls } from './grpc-options';
import { createGrpcServer, type GrpcServer } from './grpc-server';
import { createGrpcTransport } from './grpc-transport';
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthDefinition,
} from '@gateway/contracts/health';
import { testCertificates } from './test-certificates';

const { authority, peer, stranger } = testCertificates;
const peerTls: RpcTls = { certificateAuthority: authority, ...peer, serverName: 'peer.test' };

describe('mutual TLS', () => {
  let server: GrpcServer;
  let address = '';

  beforeAll(async () => {
    server = createGrpcServer({ services: [], host: '127.0.0.1', port: 0, tls: peerTls });
    address = `127.0.0.1:${(await server.start()).port}`;
  });
  afterAll(() => server.stop());

  async function checkWith(tls: RpcTls | undefined): Promise<unknown> {
    const transport = createGrpcTransport({ address, tls });
    try {
      return await createClient(HealthDefinition, transport).check({ service: '' });
    } catch (error) {
      return error;
    } finally {
      transport.close();
    }
  }

  it('serves a client with a certificate of the authority', async () => {
    expect(await checkWith(peerTls)).toEqual({ status: ServingStatus.SERVING });
  });

  it.each<[string, RpcTls | undefined]>([
    ['a client in plain text', undefined],
    ['a client whose certificate the authority did not sign', { ...peerTls, ...stranger }],
    ['a client that does not trust the server', { ...peerTls, certificateAuthority: stranger.certificate }],
    ['a client that expects another name', { ...peerTls, serverName: 'other.test' }],
  ])('does not serve %s', async (_, tls) => {
    expect(isRpcUnavailable(await checkWith(tls))).toBe(true);
  });
});

describe('certificates in files', () => {
  it('are reloaded when they are renewed, without a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
    const write = (identity: { certificate: Buffer; privateKey: Buffer }) => {
      writeFileSync(join(folder, 'ca.crt'), authority);
      writeFileSync(join(folder, 'tls.crt'), identity.certificate);
      writeFileSync(join(folder, 'tls.key'), identity.privateKey);
    };
    write(stranger);
    const server = createGrpcServer({
      services: [],
      host: '127.0.0.1',
      port: 0,
      tls: {
        certificateAuthorityFile: join(folder, 'ca.crt'),
        certificateFile: join(folder, 'tls.crt'),
        privateKeyFile: join(folder, 'tls.key'),
        refreshIntervalMs: 50,
      },
    });
    const { port } = await server.start();
    const check = async (): Promise<boolean> => {
      const transport = createGrpcTransport({ address: `127.0.0.1:${port}`, tls: peerTls });
      const healthy = await createClient(HealthDefinition, transport)
        .check({ service: '' })
        .then(
          () => true,
          () => false,
        );
      transport.close();
      return healthy;
    };
    expect(await check()).toBe(false);
    write(peer);
    const deadline = Date.now() + 15_000;
    while (!(await check())) {
      if (Date.now() > deadline) throw new Error('the renewed certificate was not loaded');
    }
    await server.stop();
    rmSync(folder, { recursive: true });
  });
});
