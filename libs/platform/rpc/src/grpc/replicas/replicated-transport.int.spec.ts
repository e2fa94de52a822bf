import { createClient, createClientOfEachServer } from '../../client';
import { bindService, type MessageCodec } from '../../definition';
import { describeRpcTransport } from '../../rpc.contract';
import {
  isRpcDeadlineExceeded,
  isRpcLost,
  isRpcUnavailable,
  isRpcUnimplemented,
  isRpcUnreachable,
} from '../../rpc-error';
import { createGrpcServer, type GrpcServer } from '../grpc-server';
import type { GrpcTransport } from '../grpc-transport';
import type { ServerAddress } from './addresses';
import { createReplicatedTransport, type ReplicatedTransportLimits } from './replicated-transport';
import { startTcpRelay, type TcpRelay } from './testing/tcp-relay';

describeRpcTransport('over gRPC to replicas', 'bytes', async (services, { maxMessageBytes, ...options }) => {
  const servers = [0, 1].map(() =>
    createGrpcServer({ services, host: '127.0.0.1', port: 0, drainMs: 100, maxMessageBytes, ...options }),
  );
  const ports = await Promise.all(servers.map((server) => server.start()));
  const target = ports.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const transport = createReplicatedTransport({ target, maxMessageBytes });
  return {
    transport,
    close: async () => {
      transport.close();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
});

interface Text {
  readonly text: string;
}

const codec: MessageCodec<Text> = {
  encode: (message) => ({ finish: () => Buffer.from(JSON.stringify(message)) }),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Text,
};
const method = {
  requestType: codec,
  responseType: codec,
  requestStream: false,
  responseStream: false,
} as const;

const EchoDefinition = {
  name: 'Echo',
  fullName: 'gateway.test.v1.Echo',
  methods: {
    read: { ...method, name: 'Read', options: { idempotencyLevel: 'IDEMPOTENT' } },
    change: { ...method, name: 'Change' },
    follow: { ...method, name: 'Follow', responseStream: true },
  },
} as const;

/** The next version of the service. */
const NextEchoDefinition = {
  ...EchoDefinition,
  methods: { ...EchoDefinition.methods, add: { ...method, name: 'Add' } },
} as const;

/** A minute: a call that takes this long fails the test. */
const LONG_MS = 60_000;
const POLL_MS = 5;

/** A server behind its own relay. It responds with its name. */
class TestReplica {
  server!: GrpcServer;
  relay!: TcpRelay;
  port = 0;
  /** The received changes, in order. */
  readonly changes: string[] = [];
  /** Unary handlers wait for it. */
  gate: Promise<void> = Promise.resolve();
  /** Streams wait for it after their first message. */
  streamGate: Promise<void> = Promise.resolve();

  constructor(readonly name: string) {}

  async start(): Promise<this> {
    await this.serve();
    this.relay = await startTcpRelay(this.port);
    return this;
  }

  async serve(version: 'now' | 'next' = 'now', drainMs = 50): Promise<void> {
    const respond = async (): Promise<Text> => {
      await this.gate;
      return { text: this.name };
    };
    const change = ({ text }: Text): Promise<Text> => {
      this.changes.push(text);
      return respond();
    };
    const wait = () => this.streamGate;
    const name = this.name;
    const handlers = {
      read: respond,
      change,
      add: change,
      follow: async function* () {
        yield { text: name };
        await wait();
        yield { text: `still ${name}` };
      },
    };
    const service =
      version === 'now' ? bindService(EchoDefinition, handlers) : bindService(NextEchoDefinition, handlers);
    this.server = createGrpcServer({ services: [service], host: '127.0.0.1', port: this.port, drainMs });
    this.port = (await this.server.start()).port;
  }

  async stop(): Promise<void> {
    this.relay.resume();
    await Promise.all([this.server.stop(), this.relay.close()]);
  }
}

describe('calls to replicas', () => {
  let a: TestReplica;
  let b: TestReplica;
  let transport: GrpcTransport;
  let servers: readonly ServerAddress[];

  const addressOf = (replica: TestReplica): ServerAddress => ({
    address: replica.relay.address,
    host: '127.0.0.1',
  });

  function open(limits: Partial<ReplicatedTransportLimits> = {}) {
    transport = createReplicatedTransport({
      target: 'service.test:1',
      resolve: async () => servers,
      limits: {
        checkIntervalMs: 20,
        probeAfterMs: 60,
        probeTimeoutMs: 100,
        resolveIntervalMs: 50,
        ...limits,
      },
    });
    return createClient(EchoDefinition, transport);
  }

  type EchoClient = ReturnType<typeof open>;

  /** The number of responses by replica name. */
  async function countResponses(client: EchoClient, calls: number): Promise<Record<string, number>> {
    const names: Record<string, number> = {};
    for (let count = 0; count < calls; count += 1) {
      const { text } = await client.read({ text: '' }, { timeoutMs: LONG_MS });
      names[text] = (names[text] ?? 0) + 1;
    }
    return names;
  }

  async function until(what: string, check: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + 15_000;
    while (!(await check())) {
      if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  const respondsFrom = (client: EchoClient, name: string) => async () =>
    name in (await countResponses(client, 2));

  beforeEach(async () => {
    [a, b] = await Promise.all([new TestReplica('a').start(), new TestReplica('b').start()]);
    servers = [addressOf(a), addressOf(b)];
  });
  afterEach(async () => {
    transport.close();
    await Promise.all([a.stop(), b.stop()]);
  });

  it('alternate between them', async () => {
    // On a busy machine, a replica could respond to a probe too late and get no calls for a moment.
    const client = open({ probeAfterMs: LONG_MS });
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    expect(await countResponses(client, 10)).toEqual({ a: 5, b: 5 });
  });

  it('wait for a connection, and fail as unavailable if there is none in time', async () => {
    await a.server.stop();
    await b.server.stop();
    const client = open({ connectWaitMs: 100 });
    const failure = await client.read({ text: '' }).catch((error: unknown) => error);
    expect(isRpcUnavailable(failure)).toBe(true);
    await a.serve();
    await until('the restarted server', async () =>
      client.read({ text: '' }).then(
        () => true,
        () => false,
      ),
    );
  });

  it('move from an unresponsive replica to the others, even in flight, until it responds again', async () => {
    const client = open();
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    a.relay.freeze();
    // At the frozen replica, each of these would take a minute.
    const names = await Promise.all(
      Array.from({ length: 8 }, async () => (await client.read({ text: '' }, { timeoutMs: LONG_MS })).text),
    );
    expect(new Set(names)).toEqual(new Set(['b']));
    expect(await countResponses(client, 6)).toEqual({ b: 6 });
    a.relay.resume();
    await until('the resumed replica', respondsFrom(client, 'a'));
  });

  it('leave a stopping replica, which finishes its own', async () => {
    await a.server.stop();
    await a.serve('now', LONG_MS);
    const client = open({ probeAfterMs: LONG_MS });
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    let release = (): void => undefined;
    a.streamGate = b.streamGate = new Promise((resolve) => (release = resolve));
    const streams = [0, 1].map(() => client.follow({ text: '' })[Symbol.asyncIterator]());
    const first = await Promise.all(
      streams.map(async (stream) => (await stream.next()).value.text as string),
    );
    expect(new Set(first)).toEqual(new Set(['a', 'b']));
    const stopped = a.server.stop();
    // Before the client knows, or after: each new call is served.
    const names = Array.from({ length: 8 }, async () => (await client.change({ text: '' })).text);
    expect(await Promise.all(names)).toHaveLength(8);
    for (let call = 0; call < 4; call += 1) {
      expect((await client.change({ text: '' })).text).toBe('b');
      for await (const { text } of client.follow({ text: '' })) {
        expect(text).toBe('b');
        break;
      }
    }
    release();
    const last = await Promise.all(streams.map(async (stream) => (await stream.next()).value.text as string));
    expect(last).toEqual(first.map((name) => `still ${name}`));
    for (const stream of streams) expect((await stream.next()).done).toBe(true);
    await stopped;
  });

  it('that are not idempotent are never sent twice', async () => {
    const client = open();
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    a.relay.freeze();
    b.relay.freeze();
    const calls = Array.from({ length: 4 }, (_, index) =>
      client.change({ text: String(index) }, { timeoutMs: 400 }).catch((error: unknown) => error),
    );
    const failures = await Promise.all(calls);
    expect(failures.every((failure) => isRpcDeadlineExceeded(failure) || isRpcUnavailable(failure))).toBe(
      true,
    );
    a.relay.resume();
    b.relay.resume();
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    // One call to each, to follow the delayed calls.
    await client.change({ text: 'last' });
    await client.change({ text: 'last' });
    const changes = [...a.changes, ...b.changes].filter((text) => text !== 'last');
    expect(new Set(changes).size).toBe(changes.length);
  });

  it('are lost, not unreachable, once a part of a large request was sent', async () => {
    const client = open({ probeAfterMs: LONG_MS });
    servers = [addressOf(a)];
    await until('only one', async () => !('b' in (await countResponses(client, 3))));
    a.relay.freeze();
    const failure = client
      .change({ text: 'x'.repeat(1024 * 1024) }, { timeoutMs: LONG_MS })
      .catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    a.relay.reset();
    expect([isRpcLost(await failure), isRpcUnreachable(await failure)]).toEqual([true, false]);
    expect(a.changes).toEqual([]);
    await a.relay.close();
    const unsent = client.change({ text: 'x'.repeat(1024 * 1024) }, { timeoutMs: 200 });
    expect(isRpcUnreachable(await unsent.catch((error: unknown) => error))).toBe(true);
  });

  it('are retried on another replica when theirs is slow but healthy', async () => {
    const client = open();
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    let release = (): void => undefined;
    a.gate = new Promise((resolve) => (release = resolve));
    const names = await Promise.all(
      Array.from({ length: 4 }, async () => (await client.read({ text: '' }, { timeoutMs: 1_000 })).text),
    );
    expect(new Set(names)).toEqual(new Set(['b']));
    release();
  });

  it('of a new method go to replicas that have it, and fail as unimplemented if none has', async () => {
    const echo = open();
    const client = createClient(NextEchoDefinition, transport);
    await until('both', async () => Object.keys(await countResponses(echo, 2)).length === 2);
    const failure = await client.add({ text: 'early' }).catch((error: unknown) => error);
    expect(isRpcUnimplemented(failure)).toBe(true);
    expect(failure).toMatchObject({ code: 'no_capacity', internalMessage: expect.stringMatching(/Add/) });
    await b.server.stop();
    await b.serve('next');
    await until('the restarted replica', respondsFrom(echo, 'b'));
    const calls = Array.from(
      { length: 6 },
      async (_, index) => (await client.add({ text: `${index}` })).text,
    );
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['b']));
    // The method is not idempotent: each call ran once.
    expect([a.changes, b.changes.length]).toEqual([[], 6]);
  });

  it('survive a rolling restart', async () => {
    const client = open();
    await until('both', async () => Object.keys(await countResponses(client, 2)).length === 2);
    let failed = 0;
    let running = true;
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (running) await client.read({ text: '' }).catch(() => (failed += 1));
      }),
    );
    for (const replica of [a, b]) {
      await replica.server.stop();
      await replica.serve();
      await until('the restarted replica', respondsFrom(client, replica.name));
    }
    running = false;
    await load;
    expect(failed).toBe(0);
  });

  it('reach new replicas, and drain streams of removed ones', async () => {
    servers = [addressOf(a)];
    const client = open();
    let release = (): void => undefined;
    a.streamGate = new Promise((resolve) => (release = resolve));
    const stream = client.follow({ text: '' })[Symbol.asyncIterator]();
    expect((await stream.next()).value).toEqual({ text: 'a' });
    servers = [addressOf(b)];
    await until('the new replica', async () => 'b' in (await countResponses(client, 1)));
    await until('only the new one', async () => !('a' in (await countResponses(client, 3))));
    release();
    expect((await stream.next()).value).toEqual({ text: 'still a' });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('reach each replica separately, and drain the streams of removed ones', async () => {
    open();
    const named = (): Promise<Text[]> =>
      Promise.all(
        createClientOfEachServer(EchoDefinition, transport).map((client) =>
          client.read({ text: '' }, { timeoutMs: LONG_MS }),
        ),
      );
    await until('both replicas', async () => (await named()).length === 2);
    expect((await named()).map(({ text }) => text).sort()).toEqual(['a', 'b']);

    let release = (): void => undefined;
    a.streamGate = b.streamGate = new Promise((resolve) => (release = resolve));
    const streams = createClientOfEachServer(EchoDefinition, transport).map((client) =>
      client.follow({ text: '' })[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    servers = [addressOf(b)];
    await until('the removal', async () => (await named()).length === 1);
    release();
    const last = await Promise.all(streams.map((stream) => stream.next()));
    expect(last.map(({ value }) => (value as Text).text).sort()).toEqual(['still a', 'still b']);
  });

  it('use the known replicas while the name cannot be resolved', async () => {
    let reported = 0;
    let broken = false;
    transport = createReplicatedTransport({
      target: 'service.test:1',
      resolve: async () => {
        if (broken) throw new Error('no name server');
        return servers;
      },
      onUnresolved: () => (reported += 1),
      limits: { checkIntervalMs: 10, resolveIntervalMs: 20 },
    });
    const client = createClient(EchoDefinition, transport);
    await client.read({ text: '' });
    broken = true;
    await until('the failed lookup', async () => reported > 0);
    expect(Object.keys(await countResponses(client, 4)).length).toBeGreaterThan(0);
    expect(reported).toBe(1);
  });

  it('reject an invalid target at startup', () => {
    for (const target of ['', 'ledger', 'ledger:', ':1', 'a:1,b', 'a:99999', 'http://a:1']) {
      expect(() => createReplicatedTransport({ target })).toThrow(/host:port/);
    }
  });
});
