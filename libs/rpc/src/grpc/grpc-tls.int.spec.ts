import { createClient } from '../client';
import { isRpcUnavailable } from '../rpc-error';
import type { RpcTls } from './grpc-options';
import { createGrpcServer, type GrpcServer } from './grpc-server';
import { createGrpcTransport } from './grpc-transport';
import { HealthDefinition, ServingStatus } from './health';
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

  it('serves a peer of the authority', async () => {
    expect(await checkWith(peerTls)).toEqual({ status: ServingStatus.Serving });
  });

  it.each<[string, RpcTls | undefined]>([
    ['a caller in plain text', undefined],
    ['a caller whose certificate the authority did not sign', { ...peerTls, ...stranger }],
    ['a caller that does not trust the server', { ...peerTls, certificateAuthority: stranger.certificate }],
    ['a caller that expects another name', { ...peerTls, serverName: 'other.test' }],
  ])('does not serve %s', async (_, tls) => {
    expect(isRpcUnavailable(await checkWith(tls))).toBe(true);
  });
});
