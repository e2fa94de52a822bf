import { toAbortSignal } from '@gateway/base';
import { Client, credentials, Metadata, type CallOptions } from '@grpc/grpc-js';
import { once } from 'node:events';
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthCheckRequest,
  HealthCheckResponse,
  HealthDefinition,
} from '@gateway/contracts/health';
import { GatewayError } from '@gateway/errors';
import { createClient } from '../client';
import { bindService, type CallContext } from '../definition';
import type { RpcCallEnd } from '../server-call';
import { isRpcLost, isRpcUnavailable, isRpcUnreachable } from '../rpc-error';
import { createGrpcServer, type GrpcServer } from './grpc-server';
import { createGrpcTransport, type GrpcTransport } from './grpc-transport';
import { identity } from './grpc-wire';
import { LIVENESS } from './health';

/** A test service that reuses the generated messages of the health protocol. */
const TestDefinition = { ...HealthDefinition, name: 'Test', fullName: 'gateway.test.v1.Test' } as const;

type Check = (request: HealthCheckRequest, context: CallContext) => Promise<HealthCheckResponse>;

const LONG_MS = 60_000;
const SERVING = { status: ServingStatus.SERVING };

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

async function caught(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('the gRPC server', () => {
  let check: Check = async () => SERVING;
  let server: GrpcServer;
  let transport: GrpcTransport;

  const ends: RpcCallEnd[] = [];

  async function serve(drainMs: number, { port = 0, isReady = (): boolean => true } = {}): Promise<number> {
    const service = bindService(TestDefinition, {
      check: (request, context) => check(request, context),
      watch: async function* (_, { signal }) {
        yield SERVING;
        await once(toAbortSignal(signal), 'abort');
      },
    });
    const onCallEnd = (end: RpcCallEnd) => void ends.push(end);
    server = createGrpcServer({ services: [service], host: '127.0.0.1', port, drainMs, isReady, onCallEnd });
    const started = await server.start();
    transport = createGrpcTransport({ address: `127.0.0.1:${started.port}` });
    return started.port;
  }

  const testClient = () => createClient(TestDefinition, transport, { unaryTimeoutMs: LONG_MS });
  const healthClient = () => createClient(HealthDefinition, transport, { unaryTimeoutMs: LONG_MS });

  afterEach(async () => {
    check = async () => SERVING;
    transport.close();
    await server.stop();
  });

  it('finishes calls in flight when it stops, and accepts no new ones', async () => {
    const [arrived, finish] = [gate(), gate()];
    check = async ({ service }) => {
      if (service !== 'slow') return SERVING;
      arrived.open();
      await finish.opened;
      return SERVING;
    };
    await serve(LONG_MS);
    const inFlight = testClient().check({ service: 'slow' });
    await arrived.opened;
    const stopped = server.stop();
    // Calls that were sent before the client knew are served.
    let refused: unknown;
    while (refused === undefined) {
      refused = await testClient()
        .check({ service: '' })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
    }
    expect(isRpcUnavailable(refused)).toBe(true);
    finish.open();
    expect(await inFlight).toEqual(SERVING);
    await stopped;
  });

  it('finishes calls in flight that last longer than the interval of keepalive pings', async () => {
    const [arrived, finish] = [gate(), gate()];
    check = async () => {
      arrived.open();
      await finish.opened;
      return SERVING;
    };
    await serve(LONG_MS);
    const inFlight = testClient().check({ service: '' });
    await arrived.opened;
    const stopped = server.stop();
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const refused = await caught(testClient().check({ service: '' }));
    expect([isRpcUnavailable(refused), isRpcUnreachable(refused)]).toEqual([true, true]);
    finish.open();
    expect(await inFlight).toEqual(SERVING);
    await stopped;
  }, 30_000);

  it('reports the outcome of each call, once', async () => {
    await serve(20);
    ends.length = 0;
    await testClient().check({ service: '' });
    check = () => Promise.reject(new GatewayError('model_not_found'));
    await caught(testClient().check({ service: '' }));
    for await (const _ of testClient().watch({ service: '' })) break;
    const arrived = gate();
    check = () => {
      arrived.open();
      return new Promise(() => undefined);
    };
    const overdue = caught(testClient().check({ service: '' }, { timeoutMs: 20 }));
    const cut = caught(testClient().check({ service: '' }));
    await arrived.opened;
    await overdue;
    await server.stop();
    await cut;
    expect(ends.map(({ rpc, outcome }) => `${rpc} ${outcome}`).sort()).toEqual([
      'gateway.test.v1.Test/Check cancelled',
      'gateway.test.v1.Test/Check cancelled',
      'gateway.test.v1.Test/Check model_not_found',
      'gateway.test.v1.Test/Check ok',
      'gateway.test.v1.Test/Watch cancelled',
    ]);
    expect(ends.every(({ durationMs }) => durationMs >= 0)).toBe(true);
  });

  it('aborts calls that outlast its drain time; their callers see it as unavailable', async () => {
    const arrived = gate();
    let handlerEnded: Promise<unknown> = Promise.resolve();
    check = (_, { signal }) => {
      handlerEnded = once(toAbortSignal(signal), 'abort');
      arrived.open();
      return new Promise(() => undefined);
    };
    await serve(20);
    const inFlight = caught(testClient().check({ service: '' }));
    await arrived.opened;
    await server.stop();
    await handlerEnded;
    const error = await inFlight;
    expect([isRpcUnavailable(error), isRpcLost(error)]).toEqual([true, true]);
    expect(error).toMatchObject({
      code: 'no_capacity',
      retryAfterMs: 10_000,
      internalMessage: expect.stringContaining('gateway.test.v1.Test/Check'),
    });
  });

  it('is unreachable to callers that have never connected', async () => {
    const port = await serve(0);
    await server.stop();
    const unconnected = createGrpcTransport({ address: `127.0.0.1:${port}` });
    const error = await caught(createClient(TestDefinition, unconnected).check({ service: '' }));
    unconnected.close();
    expect([isRpcUnavailable(error), isRpcUnreachable(error), isRpcLost(error)]).toEqual([true, true, false]);
  });

  it('is unavailable while it is down, and available again after a restart', async () => {
    const port = await serve(0);
    const client = testClient();
    const callers = transport;
    await client.check({ service: '' });
    await server.stop();
    expect(isRpcUnavailable(await caught(client.check({ service: '' })))).toBe(true);
    await serve(0, { port });
    // Calls fail immediately until the client has reconnected.
    let response: unknown;
    while (response === undefined) {
      try {
        response = await client.check({ service: '' });
      } catch (error) {
        expect(isRpcUnavailable(error)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    expect(response).toEqual(SERVING);
    callers.close();
  });

  it('reports a broken stream as unavailable', async () => {
    await serve(0);
    const stream = testClient().watch({ service: '' })[Symbol.asyncIterator]();
    await stream.next();
    const read = caught(stream.next());
    await server.stop();
    expect(isRpcLost(await read)).toBe(true);
  });

  it('fails calls of a closed transport as unavailable', async () => {
    await serve(0);
    transport.close();
    expect(isRpcUnreachable(await caught(testClient().check({ service: '' })))).toBe(true);
    const stream = testClient().watch({ service: '' })[Symbol.asyncIterator]();
    expect(isRpcUnavailable(await caught(stream.next()))).toBe(true);
  });

  it('rejects the start when its port is in use', async () => {
    // gRPC also prints the error.
    const printed = jest.spyOn(console, 'error').mockImplementation();
    const port = await serve(0);
    const second = createGrpcServer({ services: [], host: '127.0.0.1', port });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
    await second.stop();
    printed.mockRestore();
  });

  describe('calls of other gRPC clients, such as grpcurl', () => {
    const [request, SERVING_BYTES] = [
      Buffer.from(HealthCheckRequest.encode({ service: '' }).finish()),
      Buffer.from(HealthCheckResponse.encode(SERVING).finish()),
    ];
    let other: Client;
    const path = (method: string) => `/gateway.test.v1.Test/${method}`;
    const unary = (options: CallOptions = {}): Promise<Buffer | undefined> =>
      new Promise((resolve, reject) =>
        other.makeUnaryRequest<Buffer, Buffer>(
          ...([path('Check'), identity, identity, request, new Metadata(), options] as const),
          (error, response) => (error ? reject(error) : resolve(response)),
        ),
      );

    beforeEach(async () => {
      ends.length = 0;
      const port = await serve(20);
      other = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    });
    afterEach(() => other.close());

    it('get the response or the error code, and are counted', async () => {
      expect(await unary()).toEqual(SERVING_BYTES);
      check = () => Promise.reject(new GatewayError('model_not_found'));
      expect(await caught(unary())).toMatchObject({ code: 5, details: 'model_not_found' });
      expect(ends.map(({ outcome }) => outcome)).toEqual(['ok', 'model_not_found']);
    });

    it('have their deadline', async () => {
      const aborted = gate();
      check = (_, { signal }) => {
        signal.addEventListener('abort', aborted.open);
        return new Promise(() => undefined);
      };
      expect(await caught(unary({ deadline: Date.now() + 50 }))).toMatchObject({ code: 4 });
      await aborted.opened;
    });

    it('get the messages of a stream, whose handler ends with it', async () => {
      const stream = other.makeServerStreamRequest<Buffer, Buffer>(
        path('Watch'),
        identity,
        identity,
        request,
      );
      stream.on('error', () => undefined);
      expect(await once(stream, 'data')).toEqual([SERVING_BYTES]);
      stream.cancel();
      while (ends.length === 0) await new Promise(setImmediate);
      expect(ends[0]).toMatchObject({ rpc: path('Watch').slice(1), outcome: 'cancelled' });
    });
  });

  describe('health', () => {
    it('is serving for the server and each of its services', async () => {
      await serve(0);
      for (const service of ['', 'gateway.test.v1.Test']) {
        expect(await healthClient().check({ service })).toEqual(SERVING);
      }
    });

    it('is not serving while the services are not ready, although the server responds', async () => {
      let ready = false;
      await serve(0, { isReady: () => ready });
      expect(await healthClient().check({ service: '' })).toEqual({ status: ServingStatus.NOT_SERVING });
      expect(await healthClient().check({ service: LIVENESS })).toEqual(SERVING);
      const watch = healthClient().watch({ service: '' })[Symbol.asyncIterator]();
      expect((await watch.next()).value).toEqual({ status: ServingStatus.NOT_SERVING });
      ready = true;
      expect((await watch.next()).value).toEqual(SERVING);
      await watch.return?.();
    });

    it('is not found for unknown services', async () => {
      await serve(0);
      expect(await caught(healthClient().check({ service: 'gateway.test.v1.Other' }))).toMatchObject({
        row: { grpcStatus: 5 },
      });
    });

    it('reports a stopping server to watches and then ends them', async () => {
      await serve(LONG_MS);
      const seen: ServingStatus[] = [];
      const watch = healthClient().watch({ service: '' })[Symbol.asyncIterator]();
      seen.push((await watch.next()).value?.status ?? 0);
      const stopped = server.stop();
      for await (const { status } of { [Symbol.asyncIterator]: () => watch }) seen.push(status);
      expect(seen).toEqual([ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
      await stopped;
    });
  });
});
