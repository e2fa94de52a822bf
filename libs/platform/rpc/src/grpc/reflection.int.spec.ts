import path from 'node:path';
import { AuthDefinition } from '@gateway/contracts/auth';
import { contractDescriptors } from '@gateway/contracts/descriptors';
import {
  credentials,
  loadPackageDefinition,
  type ClientDuplexStream,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { bindService, type RpcHandlers } from '../definition';
import { createGrpcServer, type GrpcServer } from './grpc-server';

/** The fields of a response that the tests read. */
interface ReflectionResponse {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
  readonly errorResponse?: { readonly errorCode: number };
}

/** The client's own copy of the protocol, like that of grpcurl. */
const PROTO = path.join(
  path.dirname(require.resolve('@grpc/reflection/package.json')),
  'build/proto/grpc/reflection/v1/reflection.proto',
);

describe('reflection', () => {
  let server: GrpcServer;
  let query: (request: object) => Promise<ReflectionResponse>;
  let stop: () => void;

  async function serve(descriptors?: Uint8Array): Promise<void> {
    const service = bindService(AuthDefinition, {} as RpcHandlers<typeof AuthDefinition>);
    server = createGrpcServer({
      services: [service],
      host: '127.0.0.1',
      port: 0,
      ...(descriptors && { descriptors }),
    });
    const { port } = await server.start();
    const loaded = loadPackageDefinition(loadSync(PROTO)) as never as {
      grpc: { reflection: { v1: { ServerReflection: ServiceClientConstructor } } };
    };
    const client = new loaded.grpc.reflection.v1.ServerReflection(
      `127.0.0.1:${port}`,
      credentials.createInsecure(),
    );
    stop = () => client.close();
    query = (request) =>
      new Promise((resolve, reject) => {
        const call = client['ServerReflectionInfo']?.() as ClientDuplexStream<object, ReflectionResponse>;
        call.on('data', resolve).on('error', reject);
        call.end(request);
      });
  }

  afterEach(async () => {
    stop();
    await server.stop();
  });

  it('lists the services of the server only', async () => {
    await serve(contractDescriptors());
    const { listServicesResponse } = await query({ listServices: '' });
    expect(listServicesResponse?.service.map(({ name }) => name)).toEqual(['gateway.auth.v1.Auth']);
  });

  it('describes a service with all its messages', async () => {
    await serve(contractDescriptors());
    const { fileDescriptorResponse } = await query({ fileContainingSymbol: 'gateway.auth.v1.Auth' });
    const files = fileDescriptorResponse?.fileDescriptorProto.map((each) => each.toString('latin1')) ?? [];
    // A method, a message, and a message that these use.
    for (const name of ['WatchInvalidations', 'VerifyKeyRequest', 'OrganizationLimits']) {
      expect(files.some((file) => file.includes(name))).toBe(true);
    }
  });

  it('returns NOT_FOUND for an unknown symbol', async () => {
    await serve(contractDescriptors());
    expect((await query({ fileContainingSymbol: 'no.such.Service' })).errorResponse?.errorCode).toBe(5);
  });

  it('is disabled without descriptors', async () => {
    await serve();
    await expect(query({ listServices: '' })).rejects.toMatchObject({ code: 12 });
  });
});
