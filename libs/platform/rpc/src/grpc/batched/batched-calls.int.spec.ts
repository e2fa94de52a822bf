import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { ExchangeRequest, ExchangeResponse } from '@gateway/contracts/batched-calls';
import { createClient } from '../../client';
import { bindService, type CallContext, type MessageCodec } from '../../definition';
import { describeRpcTransport } from '../../rpc.contract';
import { isRpcLost, isRpcUnreachable } from '../../rpc-error';
import { createGrpcServer, type GrpcServer } from '../grpc-server';
import { createGrpcTransport, type GrpcTransport } from '../grpc-transport';
import { identity } from '../grpc-wire';
import { EXCHANGE_PATH, MAX_BATCHED_REQUEST_BYTES, MESSAGE_OVERHEAD_BYTES, WINDOW_BYTES } from './protocol';

describeRpcTransport('over gRPC, in batches', 'bytes', async (services, options) => {
  const server = createGrpcServer({ services, host: '127.0.0.1', port: 0, drainMs: 100, ...options });
  const { port } = await server.start();
  const transport = createGrpcTransport({ address: `127.0.0.1:${port}`, batches: () => true, ...options });
  return {
    transport,
    close: async () => {
      transport.close();
      await server.stop();
    },
  };
});

interface Text {
  readonly text: string;
}
const codec: MessageCodec<Text> = {
  encode: ({ text }) => ({ finish: () => Buffer.from(text) }),
  decode: (bytes) => ({ text: Buffer.from(bytes).toString() }),
};
const method = { requestType: codec, responseType: codec, requestStream: false } as const;
const EchoDefinition = {
  name: 'Echo',
  fullName: 'gateway.test.v1.Echo',
  methods: {
    echo: { ...method, name: 'Echo', responseStream: false },
    list: { ...method, name: 'List', responseStream: true },
  },
} as const;

describe('batched calls', () => {
  let server: GrpcServer;
  let transport: GrpcTransport;
  let echo: (request: Text, context: CallContext) => Promise<Text>;
  let list: (request: Text, context: CallContext) => AsyncIterable<Text>;
  let port: number;

  beforeEach(async () => {
    echo = async (request) => request;
    list = async function* () {};
    const service = bindService(EchoDefinition, {
      echo: (request, context) => echo(request, context),
      list: (request, context) => list(request, context),
    });
    server = createGrpcServer({ services: [service], host: '127.0.0.1', port: 0, drainMs: 60_000 });
    ({ port } = await server.start());
    transport = createGrpcTransport({ address: `127.0.0.1:${port}`, batches: () => true });
  });
  afterEach(async () => {
    transport.close();
    await server.stop();
    jest.restoreAllMocks();
  });

  const client = () => createClient(EchoDefinition, transport, { unaryTimeoutMs: 60_000 });
  const gate = () => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { open, opened };
  };

  it('of one turn of the event loop are one message, and their replies another', async () => {
    const batches: ExchangeRequest[] = [];
    const recorder = new Server();
    const bytes = {
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    };
    recorder.addService(
      { exchange: { ...bytes, path: EXCHANGE_PATH, requestStream: true, responseStream: true } },
      {
        exchange: (stream: ServerDuplexStream<Buffer, Buffer>) => {
          stream.on('data', (data: Buffer) => {
            const batch = ExchangeRequest.decode(data);
            batches.push(batch);
            const replies = batch.calls.map(({ id, request }) => ({
              ...{ id, message: request, more: false, end: true },
            }));
            stream.write(Buffer.from(ExchangeResponse.encode({ replies, goAway: false }).finish()));
          });
          stream.on('end', () => stream.end());
        },
      },
    );
    const recorderPort = await new Promise<number>((resolve, reject) =>
      recorder.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    const recorded = createGrpcTransport({ address: `127.0.0.1:${recorderPort}`, batches: () => true });
    const texts = ['a', 'b', 'c'];
    const echoes = createClient(EchoDefinition, recorded);
    expect(await Promise.all(texts.map((text) => echoes.echo({ text })))).toEqual(
      texts.map((text) => ({ text })),
    );
    expect(batches.map(({ calls }) => calls.map(({ request }) => request.toString()))).toEqual([texts]);
    recorded.close();
    recorder.forceShutdown();
  });

  it('with a large request are calls of their own', async () => {
    const request = { text: 'x'.repeat(MAX_BATCHED_REQUEST_BYTES + 1) };
    const exchange = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
    expect(await client().echo(request)).toEqual(request);
    expect(exchange).not.toHaveBeenCalled();
    expect(await client().echo({ text: 'small' })).toEqual({ text: 'small' });
    expect(exchange).toHaveBeenCalledTimes(1);
  });

  it('whose reader stops reading delay no other call, and their handler waits', async () => {
    let produced = 0;
    list = async function* () {
      for (;;) {
        produced += 1;
        yield { text: 'message' };
      }
    };
    const reader = client().list({ text: '' })[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: { text: 'message' } });
    let before = -1;
    for (let calls = 0; before !== produced || calls < 20; calls += 1) {
      before = produced;
      expect(await client().echo({ text: `${calls}` })).toEqual({ text: `${calls}` });
    }
    expect(produced).toBeLessThan(2 * (WINDOW_BYTES / MESSAGE_OVERHEAD_BYTES));
    // It continues once the messages are read.
    for (let read = 0; read < before; read += 1) await reader.next();
    await reader.next();
    expect(produced).toBeGreaterThan(before);
    await reader.return?.();
  });

  it('with a large response take turns with small ones', async () => {
    const large = 'y'.repeat(8 * 1024 * 1024);
    const started = gate();
    echo = async ({ text }) => {
      if (text === 'large') started.open();
      return { text: text === 'large' ? large : text };
    };
    const order: string[] = [];
    const response = client()
      .echo({ text: 'large' })
      .then(({ text }) => {
        order.push('large');
        return text;
      });
    await started.opened;
    await client().echo({ text: 'small' });
    order.push('small');
    expect(await response).toBe(large);
    expect(order).toEqual(['small', 'large']);
  });

  it('in flight finish when the server stops', async () => {
    const [arrived, finish] = [gate(), gate()];
    echo = async (request) => {
      arrived.open();
      await finish.opened;
      return request;
    };
    const response = client().echo({ text: 'in flight' });
    await arrived.opened;
    const stopped = server.stop();
    finish.open();
    expect(await response).toEqual({ text: 'in flight' });
    await stopped;
  });

  it('move to a new stream after a minute, while earlier ones finish on theirs', async () => {
    const streams = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
    const messages = (4 * WINDOW_BYTES) / 1_000;
    const [arrived, finish] = [gate(), gate()];
    list = async function* () {
      arrived.open();
      await finish.opened;
      for (let count = 0; count < messages; count += 1) yield { text: 'x'.repeat(1_000) };
    };
    const first = client().list({ text: '' })[Symbol.asyncIterator]();
    const message = first.next();
    await arrived.opened;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
    expect(await client().echo({ text: 'later' })).toEqual({ text: 'later' });
    expect(streams).toHaveBeenCalledTimes(2);
    finish.open();
    expect((await message).done).toBe(false);
    let read = 1;
    while (!(await first.next()).done) read += 1;
    expect(read).toBe(Math.ceil(messages));
  });

  it('cancelled on a stream that another one has replaced abort their handler', async () => {
    const [arrived, aborted] = [gate(), gate()];
    list = async function* (_request, { signal }) {
      signal.addEventListener('abort', aborted.open);
      arrived.open();
      await new Promise(() => undefined);
    };
    const reader = client().list({ text: '' })[Symbol.asyncIterator]();
    const read = reader.next();
    await arrived.opened;
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
    expect(await client().echo({ text: 'later' })).toEqual({ text: 'later' });
    await reader.return?.();
    await aborted.opened;
    expect(await read).toEqual({ done: true, value: undefined });
  });

  it('that were not sent before the connection failed are unreachable', async () => {
    await server.stop();
    const error = await client()
      .echo({ text: '' })
      .catch((thrown: unknown) => thrown);
    expect(isRpcUnreachable(error)).toBe(true);
  });

  it('that were not sent before their stream broke are unreachable, others are lost', async () => {
    const streams = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
    const arrived = gate();
    echo = ({ text }) => {
      if (text === 'sent') arrived.open();
      return new Promise(() => undefined);
    };
    const failureOf = (text: string) =>
      client()
        .echo({ text })
        .catch((thrown: unknown) => thrown);
    const sent = failureOf('sent');
    await arrived.opened;
    const unsent = failureOf('unsent');
    const stream = streams.mock.results[0]?.value as ClientDuplexStream<Buffer, Buffer>;
    stream.emit('error', Object.assign(new Error(), { code: status.UNAVAILABLE, details: 'broken' }));
    stream.cancel();
    expect([isRpcUnreachable(await unsent), isRpcLost(await sent)]).toEqual([true, true]);
  });

  it('fail as unavailable when the server sends something else than replies', async () => {
    const streams = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
    const arrived = gate();
    echo = () => {
      arrived.open();
      return new Promise(() => undefined);
    };
    const failure = client()
      .echo({ text: '' })
      .catch((thrown: unknown) => thrown);
    await arrived.opened;
    const stream = streams.mock.results[0]?.value as ClientDuplexStream<Buffer, Buffer>;
    stream.emit('data', Buffer.from([0xff, 0xff, 0xff]));
    expect(isRpcLost(await failure)).toBe(true);
    echo = async (request) => request;
    expect(await client().echo({ text: 'fine' })).toEqual({ text: 'fine' });
  });

  it('abort their handlers when the client has left', async () => {
    const [arrived, aborted] = [gate(), gate()];
    echo = (_request, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      arrived.open();
      return new Promise(() => undefined);
    };
    const raw = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const stream = raw.makeBidiStreamRequest<Buffer, Buffer>(
      EXCHANGE_PATH,
      identity,
      identity,
      new Metadata(),
    );
    stream.on('error', () => undefined);
    const call = { id: 1, path: '/gateway.test.v1.Echo/Echo', request: Buffer.alloc(0), timeoutMs: 0 };
    const batch = { calls: [{ ...call, metadata: {} }], cancelledIds: [], consumed: [] };
    stream.write(Buffer.from(ExchangeRequest.encode(batch).finish()));
    await arrived.opened;
    stream.cancel();
    await aborted.opened;
    raw.close();
  });

  it('in a message that is not a batch end the stream, and the server serves others', async () => {
    const raw = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const stream = raw.makeBidiStreamRequest<Buffer, Buffer>(
      EXCHANGE_PATH,
      identity,
      identity,
      new Metadata(),
    );
    const failure = new Promise<ServiceError>((resolve) => stream.on('error', resolve as () => void));
    stream.write(Buffer.from([0xff, 0xff, 0xff]));
    expect((await failure).details).toBe('not a batch of calls');
    raw.close();
    expect(await client().echo({ text: 'fine' })).toEqual({ text: 'fine' });
  });
});
