import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { toAbortSignal } from '@gateway/base';
import { GatewayError } from '@gateway/errors';
import type { RpcCallEnd } from '../call-end';
import { createClient } from '../client';
import { isRpcLost, isRpcUnavailable, isRpcUnreachable } from '../rpc-error';
import { FrameKind } from './frame';
import { createLocalServer, type LocalServer } from './local-server';
import { createLocalTransport, type LocalTransport } from './local-transport';
import { note, Notes, NotesDefinition } from './testing/notes-service';
import { scratchSocket, type ScratchSocket } from './testing/scratch-socket';
import { caught, gate, until } from './testing/waiting';

const LONG_MS = 60_000;

describe('the local server', () => {
  let socket: ScratchSocket;
  let notes: Notes;
  let server: LocalServer;
  let transport: LocalTransport | undefined;
  let logged: unknown[];
  let ends: RpcCallEnd[];

  const log = {
    warn: (_: object, message: string) => void logged.push(message),
    error: (_: object, message: string) => void logged.push(message),
  };
  const serverOf = (drainMs: number): LocalServer =>
    createLocalServer({
      services: [notes.service],
      path: socket.path,
      drainMs,
      log,
      maxMessageBytes: 10_000,
      onCallEnd: (end) => void ends.push(end),
    });
  const client = () => {
    transport ??= createLocalTransport({ path: socket.path, log, maxMessageBytes: 10_000 });
    return createClient(NotesDefinition, transport, { unaryTimeoutMs: LONG_MS });
  };

  async function serve(drainMs: number): Promise<void> {
    server = serverOf(drainMs);
    await server.start();
  }

  beforeEach(async () => {
    socket = await scratchSocket();
    notes = new Notes();
    logged = [];
    ends = [];
    transport = undefined;
    server = serverOf(0);
  });
  afterEach(async () => {
    transport?.close();
    await server.stop();
    await socket.remove();
  });

  it('tells how each call ended, once', async () => {
    await serve(20);
    const told = async (outcome: string) => {
      await until(() => ends.length > 0);
      expect(ends.splice(0)).toEqual([
        { rpc: expect.any(String), outcome, durationMs: expect.any(Number), trace: undefined },
      ]);
    };
    await client().ask(note(1));
    await told('ok');
    for await (const _ of client().list(note(3)));
    await told('ok');
    for await (const _ of client().list(note(1_000))) break;
    await told('cancelled');
    notes.ask = () => Promise.reject(new GatewayError('model_not_found'));
    await caught(client().ask(note(1)));
    await told('model_not_found');
    let arrived = 0;
    notes.ask = () => {
      arrived += 1;
      return new Promise(() => undefined);
    };
    await caught(client().ask(note(1), { timeoutMs: 20 }));
    await told('cancelled');
    const cut = caught(client().ask(note(1)));
    await until(() => arrived === 2);
    await server.stop();
    await cut;
    await told('cancelled');
  });

  describe('its socket', () => {
    it('is open to its own user alone', async () => {
      const umask = process.umask();
      await serve(0);
      expect((statSync(socket.path).mode & 0o777).toString(8)).toBe('600');
      expect(process.umask()).toBe(umask);
    });

    it('is gone when it has stopped', async () => {
      await serve(0);
      await server.stop();
      expect(existsSync(socket.path)).toBe(false);
    });

    it('replaces that of a process that died', async () => {
      // Node removes its sockets when it closes them: a child that is killed does not.
      const { spawn } = await import('node:child_process');
      const dying = spawn(process.execPath, [
        '-e',
        `require('node:net').createServer().listen(${JSON.stringify(socket.path)}, () => process.kill(process.pid, 'SIGKILL'))`,
      ]);
      await once(dying, 'exit');
      expect(existsSync(socket.path)).toBe(true);
      await serve(0);
      expect(await client().ask(note(1))).toEqual(note(1));
    });

    it('does not replace that of one who listens', async () => {
      await serve(0);
      await expect(serverOf(0).start()).rejects.toThrow('EADDRINUSE');
      expect(await client().ask(note(1))).toEqual(note(1));
    });

    it('does not replace a file', async () => {
      writeFileSync(socket.path, 'kept');
      await expect(server.start()).rejects.toThrow('EADDRINUSE');
      expect(readFileSync(socket.path, 'utf8')).toBe('kept');
    });

    it('whose path is too long is refused by its length, at both ends', () => {
      const path = `/tmp/${'x'.repeat(120)}`;
      expect(() => createLocalServer({ services: [], path })).toThrow(/has 125 bytes, and may have 10[37]/);
      expect(() => createLocalTransport({ path })).toThrow(/has 125 bytes, and may have 10[37]/);
    });
  });

  describe('when it stops', () => {
    it('lets calls under way finish, and takes no new ones', async () => {
      const [arrived, finish] = [gate(), gate()];
      notes.ask = async (request) => {
        arrived.open();
        await finish.opened;
        return request;
      };
      await serve(LONG_MS);
      const underWay = client().ask(note(1));
      await arrived.opened;
      const stopped = server.stop();
      const refused = await caught(client().ask(note(2)));
      expect([isRpcUnavailable(refused), isRpcUnreachable(refused)]).toEqual([true, true]);
      finish.open();
      expect(await underWay).toEqual(note(1));
      await stopped;
    });

    it('aborts the handlers of calls that outlast its drain time; their callers see it as lost', async () => {
      const arrived = gate();
      let handlerEnded: Promise<unknown> = Promise.resolve();
      notes.ask = (_, { signal }) => {
        handlerEnded = once(toAbortSignal(signal), 'abort');
        arrived.open();
        return new Promise(() => undefined);
      };
      await serve(20);
      const underWay = caught(client().ask(note(1)));
      await arrived.opened;
      await server.stop();
      await handlerEnded;
      expect(isRpcLost(await underWay)).toBe(true);
      expect(await underWay).toMatchObject({
        code: 'no_capacity',
        internalMessage: expect.stringContaining('gateway.test.v1.Notes/Ask'),
      });
    });

    it('brings out every answer that was given before', async () => {
      await serve(LONG_MS);
      notes.ask = async (request) => {
        void server.stop();
        return request;
      };
      const text = 'x'.repeat(9_000);
      expect(await client().ask(note(1, text))).toEqual(note(1, text));
      await server.stop();
    });

    it('ends a stream that is cut with a failure, not as if it were whole', async () => {
      notes.list = async function* (_, { signal }) {
        yield note(1);
        await once(toAbortSignal(signal), 'abort');
      };
      await serve(0);
      const stream = client().list(note(1))[Symbol.asyncIterator]();
      await stream.next();
      const read = caught(stream.next());
      await server.stop();
      expect(isRpcLost(await read)).toBe(true);
    });
  });

  it('aborts the handlers of a caller that is gone', async () => {
    const arrived = gate();
    let handlerEnded: Promise<unknown> = Promise.resolve();
    notes.ask = (_, { signal }) => {
      handlerEnded = once(toAbortSignal(signal), 'abort');
      arrived.open();
      return new Promise(() => undefined);
    };
    await serve(0);
    const underWay = caught(client().ask(note(1)));
    await arrived.opened;
    transport?.close();
    await handlerEnded;
    expect(isRpcLost(await underWay)).toBe(true);
  });

  it('aborts a handler at its deadline by itself, though its caller stands still', async () => {
    const aborted = gate();
    notes.ask = (_, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      return new Promise(() => undefined);
    };
    await serve(0);
    const caller = createConnection(socket.path);
    caller.write(frame(FrameKind.request, 1, requestOf(0, 20)));
    await aborted.opened;
    caller.destroy();
  });

  describe('closes a connection, says so, and serves the others', () => {
    const question = requestOf(0, LONG_MS);
    it.each<[string, readonly Buffer[]]>([
      ['of no protocol', [Buffer.from('GET / HTTP/1.1\r\n\r\n')]],
      ['with a frame that is too short', [Buffer.from([4, 0, 0, 0, 1, 1, 1, 1])]],
      ['with a frame over the limit', [Buffer.from([0xff, 0xff, 0xff, 0x7f])]],
      ['with a request without its head', [frame(FrameKind.request, 1, Buffer.from('short'))]],
      ['with metadata beyond the end', [frame(FrameKind.request, 1, Buffer.from('00000000'))]],
      ['with a request for no method', [frame(FrameKind.request, 1, requestOf(77, LONG_MS))]],
      [
        'with two calls of one number',
        [frame(FrameKind.request, 1, question), frame(FrameKind.request, 1, question)],
      ],
      [
        'with an unknown kind of frame',
        [frame(FrameKind.request, 1, question), frame(99, 1, Buffer.alloc(8))],
      ],
      [
        'with credit for what was not sent',
        [frame(FrameKind.request, 1, question), frame(FrameKind.credit, 1, Buffer.alloc(8, 1))],
      ],
      [
        'with a cut for no reason',
        [frame(FrameKind.request, 1, question), frame(FrameKind.cut, 1, Buffer.from([99]))],
      ],
    ])('%s', async (_, frames) => {
      await serve(0);
      expect(await client().ask(note(1))).toEqual(note(1));
      let aborted = 0;
      notes.ask = (__, { signal }) => {
        signal.addEventListener('abort', () => (aborted += 1));
        return new Promise(() => undefined);
      };
      const stranger = createConnection(socket.path);
      stranger.on('error', () => undefined);
      stranger.resume();
      stranger.write(Buffer.concat(frames));
      await once(stranger, 'close');
      expect(logged).toEqual(['a local connection is closed: what its caller sent cannot be read']);
      // Those of the calls that had begun.
      expect(aborted).toBe(frames.length - 1);
      notes.ask = async (request) => request;
      expect(await client().ask(note(2))).toEqual(note(2));
    });
  });

  it('ignores what comes for calls that it does not know, which may have just ended', async () => {
    await serve(0);
    const late = createConnection(socket.path);
    late.write(frame(FrameKind.cut, 5, Buffer.from([4])));
    late.write(frame(FrameKind.credit, 6, Buffer.alloc(8)));
    late.write(frame(FrameKind.request, 7, requestOf(0, LONG_MS)));
    let answered = Buffer.alloc(0);
    late.on('data', (piece) => (answered = Buffer.concat([answered, piece])));
    await until(() => answered.includes('"number":7'));
    late.destroy();
    expect(logged).toEqual([]);
  });

  it('loses its callers when what answers them speaks another protocol, and says so', async () => {
    const stranger = createServer((caller) => void caller.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    stranger.listen(socket.path);
    await once(stranger, 'listening');
    const refused = caught(client().ask(note(1)));
    await until(() => logged.length > 0);
    expect(logged[0]).toBe('a local connection is closed: what the server sent cannot be read');
    transport?.close();
    expect(isRpcUnreachable(await refused)).toBe(true);
    stranger.close();
    await once(stranger, 'close');
  });
});

function frame(kind: number, callId: number, body: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(5 + body.length, 0);
  head[4] = kind;
  head.writeUInt32LE(callId, 5);
  return Buffer.concat([head, body]);
}

function requestOf(method: number, timeoutMs: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(method, 0);
  head.writeUInt32LE(timeoutMs, 2);
  return Buffer.concat([head, Buffer.from(JSON.stringify(note(7)))]);
}
