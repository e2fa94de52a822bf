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

/** As much of an answer as is looked at. */
interface Answer {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
  readonly errorResponse?: { readonly errorCode: number };
}

/** The client's own description of the protocol, as grpcurl has one. */
const PROTO = path.join(
  path.dirname(require.resolve('@grpc/reflection/package.json')),
  'build/proto/grpc/reflection/v1/reflection.proto',
);

describe('reflection', () => {
  let server: GrpcServer;
  let ask: (question: object) => Promise<Answer>;
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
    ask = (question) =>
      new Promise((resolve, reject) => {
        const call = client['ServerReflectionInfo']?.() as ClientDuplexStream<object, Answer>;
        call.on('data', resolve).on('error', reject);
        call.end(question);
      });
  }

  afterEach(async () => {
    stop();
    await server.stop();
  });

  it('tells which services there are, and no other of the contracts', async () => {
    await serve(contractDescriptors());
    const { listServicesResponse } = await ask({ listServices: '' });
    expect(listServicesResponse?.service.map(({ name }) => name)).toEqual(['gateway.auth.v1.Auth']);
  });

  it('tells a service with everything that its messages are made of', async () => {
    await serve(contractDescriptors());
    const { fileDescriptorResponse } = await ask({ fileContainingSymbol: 'gateway.auth.v1.Auth' });
    const files = fileDescriptorResponse?.fileDescriptorProto.map((each) => each.toString('latin1')) ?? [];
    // Names of a service, of its messages, and of a message of another file that those are made of.
    for (const name of ['WatchInvalidations', 'VerifyKeyRequest', 'OrganizationLimits']) {
      expect(files.some((file) => file.includes(name))).toBe(true);
    }
  });

  it('says that it does not know what nobody wrote down', async () => {
    await serve(contractDescriptors());
    expect((await ask({ fileContainingSymbol: 'no.such.Service' })).errorResponse?.errorCode).toBe(5);
  });

  it('is not there without descriptors', async () => {
    await serve();
    await expect(ask({ listServices: '' })).rejects.toMatchObject({ code: 12 });
  });
});
