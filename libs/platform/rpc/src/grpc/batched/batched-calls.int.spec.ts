import { once } from 'node:events';
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
import { ExchangeRequest, ExchangeResponse, type Call, type Reply } from '@gateway/contracts/batched-calls';
import { createClient } from '../../client';
import { bindService, type CallContext, type MessageCodec } from '../../definition';
import { isRpcCancelled, isRpcDeadlineExceeded, isRpcLost, isRpcUnreachable } from '../../rpc-error';
import { createGrpcServer, type GrpcServer } from '../grpc-server';
import { createGrpcTransport, type GrpcTransport } from '../grpc-transport';
import { identity } from '../grpc-wire';
import { EXCHANGE_PATH, MAX_PART_BYTES, MESSAGE_OVERHEAD_BYTES, WINDOW_BYTES } from './protocol';

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
  let closeRaw: (() => void) | undefined;

  beforeEach(async () => {
    echo = async (request) => request;
    list = async function* () {};
    const service = bindService(EchoDefinition, {
      echo: (request, context) => echo(request, context),
      list: (request, context) => list(request, context),
    });
    server = createGrpcServer({ services: [service], host: '127.0.0.1', port: 0, drainMs: 60_000 });
    ({ port } = await server.start());
    transport = createGrpcTransport({ address: `127.0.0.1:${port}` });
  });
  afterEach(async () => {
    closeRaw?.();
    closeRaw = undefined;
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
            stream.write(
              Buffer.from(ExchangeResponse.encode({ replies, goAway: false, consumed: [] }).finish()),
            );
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
    const recorded = createGrpcTransport({ address: `127.0.0.1:${recorderPort}` });
    const texts = ['a', 'b', 'c'];
    const echoes = createClient(EchoDefinition, recorded);
    expect(await Promise.all(texts.map((text) => echoes.echo({ text })))).toEqual(
      texts.map((text) => ({ text })),
    );
    expect(batches.map(({ calls }) => calls.map(({ request }) => request.toString()))).toEqual([texts]);
    recorded.close();
    recorder.forceShutdown();
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
    const { stream, send } = exchange();
    send({});
    await arrived.opened;
    stream.cancel();
    await aborted.opened;
  });

  it('in a message that is not a batch end the stream, and the server serves others', async () => {
    const { stream, failure } = exchange();
    stream.write(Buffer.from([0xff, 0xff, 0xff]));
    expect((await failure).details).toBe('not a batch of calls');
    expect(await client().echo({ text: 'fine' })).toEqual({ text: 'fine' });
  });

  describe('with large requests', () => {
    const MIB = 1024 * 1024;

    /** How calls of the server below ended. */
    let outcomes: string[];

    beforeEach(() => (outcomes = []));

    /** A client and a server of small limits. */
    async function limited(clientBytes: number, serverBytes = clientBytes) {
      transport.close();
      await server.stop();
      const service = bindService(EchoDefinition, {
        echo: (...call) => echo(...call),
        list: (...call) => list(...call),
      });
      server = createGrpcServer({
        services: [service],
        host: '127.0.0.1',
        port: 0,
        maxMessageBytes: serverBytes,
        onCallEnd: ({ outcome }) => outcomes.push(outcome),
      });
      ({ port } = await server.start());
      transport = createGrpcTransport({ address: `127.0.0.1:${port}`, maxMessageBytes: clientBytes });
      return client();
    }

    it('take turns with small ones', async () => {
      const order: string[] = [];
      echo = async (request) => {
        order.push(request.text.slice(0, 5));
        return request;
      };
      const text = 'large'.repeat(MIB);
      const large = client().echo({ text });
      for (let calls = 0; calls < 3; calls += 1) await client().echo({ text: 'small' });
      expect(order).toEqual(['small', 'small', 'small']);
      expect((await large).text === text).toBe(true);
      expect(order).toEqual(['small', 'small', 'small', 'large']);
    });

    it('are joined, whatever their size', async () => {
      for (const bytes of [-1, 0, 1, MAX_PART_BYTES, WINDOW_BYTES, WINDOW_BYTES + 1].map(
        (more) => MAX_PART_BYTES + more,
      )) {
        const text = 'x'.repeat(bytes - 1) + 'y';
        expect((await client().echo({ text })).text === text).toBe(true);
        const messages: Text[] = [];
        list = async function* (request) {
          yield request;
        };
        for await (const message of client().list({ text })) messages.push(message);
        expect(messages.map((message) => message.text === text)).toEqual([true]);
      }
    });

    it('cancelled half way never run, and the server keeps nothing of them', async () => {
      const limit = MIB;
      const echoes = await limited(limit);
      let runs = 0;
      echo = async (request) => {
        runs += 1;
        return request;
      };
      for (let calls = 0; calls < 20; calls += 1) {
        const controller = new AbortController();
        const failure = echoes
          .echo({ text: 'x'.repeat(limit) }, { signal: controller.signal })
          .catch((thrown: unknown) => thrown);
        // Its first parts have arrived by then.
        await echoes.echo({ text: 'small' });
        controller.abort();
        expect(isRpcCancelled(await failure)).toBe(true);
      }
      expect((await echoes.echo({ text: 'x'.repeat(limit) })).text).toHaveLength(limit);
      expect(runs).toBe(21);
      expect(outcomes.filter((outcome) => outcome === 'cancelled')).toHaveLength(20);
    });

    it('abort when their time is over before they have arrived', async () => {
      let runs = 0;
      echo = async (request) => {
        runs += 1;
        return request;
      };
      const failure = await client()
        .echo({ text: 'x'.repeat(60 * MIB) }, { timeoutMs: 20 })
        .catch((thrown: unknown) => thrown);
      expect(isRpcDeadlineExceeded(failure)).toBe(true);
      expect(await client().echo({ text: 'fine' })).toEqual({ text: 'fine' });
      expect(runs).toBe(1);
    });

    it('wait for each other when the server could not store all of them', async () => {
      const echoes = await limited(MIB);
      const texts = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(0.7 * MIB));
      const responses = await Promise.all(texts.map((text) => echoes.echo({ text })));
      expect(responses.map(({ text }, index) => text === texts[index])).toEqual(texts.map(() => true));
    });

    it('over the limit of the server fail, and other calls do not', async () => {
      const echoes = await limited(2 * MIB, MIB);
      const [failure, fine] = await Promise.all([
        echoes.echo({ text: 'x'.repeat(MIB + 1) }).catch((thrown: unknown) => thrown),
        echoes.echo({ text: 'fine' }),
      ]);
      expect(failure).toMatchObject({ code: 'internal_error' });
      expect(fine).toEqual({ text: 'fine' });
      expect((await echoes.echo({ text: 'x'.repeat(MIB) })).text).toHaveLength(MIB);
      expect(outcomes).toEqual(['ok', 'internal_error', 'ok']);
    });

    it('to an unknown method are refused with their first part', async () => {
      const { send, reply } = exchange();
      send({ path: '/gateway.test.v1.Other/Echo', request: Buffer.alloc(MAX_PART_BYTES), more: true });
      expect(await reply).toMatchObject({ id: 1, end: true, failure: { status: status.UNIMPLEMENTED } });
      send({ path: '', request: Buffer.alloc(MAX_PART_BYTES) });
      expect(await client().echo({ text: 'fine' })).toEqual({ text: 'fine' });
    });

    it('that stay incomplete end with the stream', async () => {
      const { stream, send } = exchange();
      send({ request: Buffer.alloc(1), more: true });
      stream.end();
      await once(stream, 'end');
    });

    it('that arrive while the server stops are served', async () => {
      const text = 'x'.repeat(16 * MIB);
      const response = client().echo({ text });
      await client().echo({ text: 'small' });
      await server.stop();
      expect((await response).text === text).toBe(true);
    });

    it('that have not arrived when the drain time is over fail as unavailable', async () => {
      await server.stop();
      server = createGrpcServer({
        services: [bindService(EchoDefinition, { echo, list })],
        host: '127.0.0.1',
        port,
        drainMs: 20,
      });
      await server.start();
      const { send, reply } = exchange();
      send({ request: Buffer.alloc(1), more: true });
      await client().echo({ text: 'small' });
      await server.stop();
      expect((await reply).failure).toMatchObject({ status: status.UNAVAILABLE });
    });

    it('are lost with their stream once a part was sent, and unreachable before', async () => {
      const streams = jest.spyOn(Client.prototype, 'makeBidiStreamRequest');
      const echoes = await limited(MIB);
      const failureOf = () => echoes.echo({ text: 'x'.repeat(MIB) }).catch((thrown: unknown) => thrown);
      await echoes.echo({ text: 'connected' });
      const [sent, waiting] = [failureOf(), failureOf()];
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      const stream = streams.mock.results[0]?.value as ClientDuplexStream<Buffer, Buffer>;
      stream.emit('error', Object.assign(new Error(), { code: status.UNAVAILABLE, details: 'broken' }));
      stream.cancel();
      expect([isRpcLost(await sent), isRpcUnreachable(await waiting)]).toEqual([true, true]);
    });
  });

  /** A stream of a client that sends what the test writes. */
  function exchange() {
    const raw = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const stream = raw.makeBidiStreamRequest<Buffer, Buffer>(
      EXCHANGE_PATH,
      identity,
      identity,
      new Metadata(),
    );
    const failure = new Promise<ServiceError>((resolve) => stream.on('error', resolve as () => void));
    const reply = new Promise<Reply>((resolve) =>
      stream.on('data', (bytes: Buffer) => ExchangeResponse.decode(bytes).replies.forEach(resolve)),
    );
    const send = (call: Partial<Call>): void => {
      const empty = { id: 1, path: '/gateway.test.v1.Echo/Echo', request: Buffer.alloc(0), timeoutMs: 0 };
      const calls = [{ ...empty, metadata: {}, more: false, ...call }];
      stream.write(Buffer.from(ExchangeRequest.encode({ calls, cancelledIds: [], consumed: [] }).finish()));
    };
    closeRaw = () => {
      stream.cancel();
      raw.close();
    };
    return { stream, failure, reply, send };
  }
});
