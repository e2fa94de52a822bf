import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { createClient } from '../client';
import {
  isRpcCancelled,
  isRpcDeadlineExceeded,
  isRpcLost,
  isRpcUnavailable,
  isRpcUnreachable,
} from '../rpc-error';
import { STREAM_WINDOW } from './local-limits';
import { createLocalServer, type LocalServer } from './local-server';
import { createLocalTransport, type LocalTransport } from './local-transport';
import { note, Notes, NotesDefinition, type Note } from './testing/notes-service';
import { scratchSocket, type ScratchSocket } from './testing/scratch-socket';
import { caught, gate, until } from './testing/waiting';

const LONG_MS = 60_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a local connection', () => {
  let socket: ScratchSocket;
  let notes: Notes;
  let server: LocalServer;
  let transport: LocalTransport;

  const client = () => createClient(NotesDefinition, transport, { unaryTimeoutMs: LONG_MS });

  async function serve(): Promise<void> {
    server = createLocalServer({ services: [notes.service], path: socket.path, drainMs: 0 });
    await server.start();
  }
  /** Asks until there is an answer; those before it fail as unavailable, at once. */
  async function answered(): Promise<Note> {
    for (;;) {
      try {
        return await client().ask(note(1));
      } catch (error) {
        if (!isRpcUnavailable(error)) throw error;
        await turn();
      }
    }
  }

  beforeEach(async () => {
    socket = await scratchSocket();
    notes = new Notes();
    transport = createLocalTransport({ path: socket.path });
  });
  afterEach(async () => {
    transport.close();
    await server.stop();
    await socket.remove();
  });

  describe('before it stands', () => {
    it('lets calls and streams wait for it', async () => {
      const asked = client().ask(note(1));
      const first = client().list(note(1))[Symbol.asyncIterator]().next();
      await turn();
      await serve();
      expect(await asked).toEqual(note(1));
      expect(await first).toEqual({ done: false, value: note(0) });
    });

    it('lets none wait beyond its deadline or signal, nor sends one that no longer waits', async () => {
      const controller = new AbortController();
      const overdue = caught(client().ask(note(1), { timeoutMs: 20 }));
      const cancelled = caught(client().ask(note(2), { signal: controller.signal }));
      controller.abort();
      expect(isRpcCancelled(await cancelled)).toBe(true);
      expect(isRpcDeadlineExceeded(await overdue)).toBe(true);
      const asked: number[] = [];
      notes.ask = async (request) => {
        asked.push(request.number);
        return request;
      };
      await serve();
      await client().ask(note(3));
      expect(asked).toEqual([3]);
    });

    it('refuses those that wait when it is closed', async () => {
      const waiting = caught(client().ask(note(1)));
      transport.close();
      expect(isRpcUnreachable(await waiting)).toBe(true);
      expect(isRpcUnreachable(await caught(client().ask(note(1))))).toBe(true);
      await serve();
    });
  });

  describe('that is lost', () => {
    it('stands again once the server is back; until then calls fail at once, never begun', async () => {
      await serve();
      await client().ask(note(1));
      await server.stop();
      let refused: unknown;
      while (!isRpcUnreachable(refused)) refused = await caught(client().ask(note(1)));
      await serve();
      expect(await answered()).toEqual(note(1));
    });

    it('fails calls and streams under way as lost, after the messages that came before', async () => {
      const sockets = await serveCuttable();
      const arrived = gate();
      notes.ask = () => {
        arrived.open();
        return new Promise(() => undefined);
      };
      notes.list = async function* () {
        yield note(1);
        yield note(2);
        await new Promise(() => undefined);
      };
      const asked = caught(client().ask(note(1)));
      const stream = client().list(note(1))[Symbol.asyncIterator]();
      expect(await stream.next()).toEqual({ done: false, value: note(1) });
      await arrived.opened;
      // The second message is here too, unread: it came with the first.
      for (const one of sockets) one.destroy();
      expect(isRpcLost(await asked)).toBe(true);
      expect(await stream.next()).toEqual({ done: false, value: note(2) });
      expect(isRpcLost(await caught(stream.next()))).toBe(true);
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    });

    it('to a process that was killed fails its calls as lost', async () => {
      server = createLocalServer({ services: [], path: socket.path });
      const child = startSilentServer(socket.path);
      try {
        const asked = caught(client().ask(note(1)));
        const stream = client().list(note(1))[Symbol.asyncIterator]();
        const read = caught(stream.next());
        // It tells of the requests that it has; it answers none.
        await once(child.stdout as NodeJS.ReadableStream, 'data');
        child.kill('SIGKILL');
        expect(isRpcLost(await asked)).toBe(true);
        expect(isRpcLost(await read)).toBe(true);
      } finally {
        child.kill('SIGKILL');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      }
      await serve();
      expect(await answered()).toEqual(note(1));
    });
  });

  /** Between server and transport, what can be cut: as when the server dies. */
  async function serveCuttable(): Promise<Set<Socket>> {
    transport.close();
    await serve();
    const sockets = new Set<Socket>();
    const between: Server = createServer((caller) => {
      const onward = createConnection(socket.path);
      onward.on('error', () => undefined);
      caller.on('error', () => undefined);
      caller.pipe(onward).pipe(caller);
      caller.on('close', () => onward.destroy());
      sockets.add(caller);
    });
    const path = `${socket.path}.cut`;
    between.listen(path);
    await once(between, 'listening');
    between.unref();
    transport = createLocalTransport({ path });
    return sockets;
  }

  describe('with much on it', () => {
    it('answers 1,000 calls at once, each with its own', async () => {
      await serve();
      const waiting: (() => void)[] = [];
      notes.ask = (request) =>
        new Promise((resolve) => {
          waiting.push(() => resolve(note(request.number, `answer ${request.number}`)));
          if (waiting.length === 1_000) for (const answer of waiting.reverse()) answer();
        });
      const numbers = Array.from({ length: 1_000 }, (_, index) => index);
      const answers = await Promise.all(numbers.map((number) => client().ask(note(number))));
      expect(answers).toEqual(numbers.map((number) => note(number, `answer ${number}`)));
    });

    it('is not held up by a stream that nobody reads on', async () => {
      await serve();
      let produced = 0;
      notes.list = async function* () {
        for (;;) yield note((produced += 1), 'x'.repeat(1_000));
      };
      const slow = client().list(note(1))[Symbol.asyncIterator]();
      await slow.next();
      await until(() => produced === STREAM_WINDOW.messages);
      for (let number = 0; number < 100; number += 1) {
        expect(await client().ask(note(number))).toEqual(note(number));
      }
      // The handler waits: what filled the window is all there is.
      expect(produced).toBe(STREAM_WINDOW.messages);
      const other = client().list(note(1))[Symbol.asyncIterator]();
      expect((await other.next()).done).toBe(false);
      await other.return?.();
      await slow.return?.();
    });

    it('bounds what is unread in bytes as well', async () => {
      await serve();
      let produced = 0;
      const text = 'x'.repeat(STREAM_WINDOW.bytes / 4);
      notes.list = async function* () {
        for (;;) yield note((produced += 1), text);
      };
      const slow = client().list(note(1))[Symbol.asyncIterator]();
      await slow.next();
      for (let number = 0; number < 100; number += 1) await client().ask(note(number));
      expect(produced).toBeLessThanOrEqual(6);
      for (let number = 2; number <= 50; number += 1) {
        expect((await slow.next()).value).toMatchObject({ number });
      }
      await slow.return?.();
    });

    it('mixes up and reorders nothing, whatever comes when', async () => {
      await serve();
      notes.ask = async ({ number, text }) => {
        for (let turns = number % 7; turns > 0; turns -= 1) await turn();
        return note(number, text);
      };
      notes.list = async function* ({ number, text }) {
        for (let index = 0; index < number; index += 1) {
          if (index % 5 === 0) await turn();
          yield note(index, text);
        }
      };
      const action = fc.record({
        kind: fc.constantFrom('ask', 'list', 'leave', 'cancel'),
        size: fc.constantFrom(0, 10, 1_000, 20_000, 100_000),
        number: fc.integer({ min: 0, max: 60 }),
        waits: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 40 }), async (actions) => {
          const running: Promise<void>[] = [];
          for (const [index, { kind, size, number, waits }] of actions.entries()) {
            running.push(act(kind, number, `${index} ${'x'.repeat(size)}`));
            if (waits) await turn();
          }
          await Promise.all(running);
        }),
        { numRuns: 60 },
      );
    });
  });

  async function act(kind: 'ask' | 'list' | 'leave' | 'cancel', number: number, text: string): Promise<void> {
    if (kind === 'ask') {
      expect(await client().ask(note(number, text))).toEqual(note(number, text));
      return;
    }
    if (kind === 'cancel') {
      const controller = new AbortController();
      const asked = client().ask(note(number, text), { signal: controller.signal });
      void turn().then(() => controller.abort());
      await asked.then(
        (answer) => expect(answer).toEqual(note(number, text)),
        (error: unknown) => expect(isRpcCancelled(error)).toBe(true),
      );
      return;
    }
    let received = 0;
    for await (const message of client().list(note(number, text))) {
      expect(message).toEqual(note(received, text));
      received += 1;
      if (kind === 'leave' && received === 20) return;
      if (received % 11 === 0) await turn();
    }
    expect(received).toBe(number);
  }
});

/** A server of another process that says what it serves, and then nothing but when it got requests. */
function startSilentServer(path: string): ChildProcess {
  const table = JSON.stringify([
    [NotesDefinition.fullName, 'Ask', false],
    [NotesDefinition.fullName, 'List', true],
  ]);
  const program = `
    const table = Buffer.from(${JSON.stringify(table)});
    const head = Buffer.alloc(9);
    head.writeUInt32LE(5 + table.length, 0);
    head[4] = 1;
    require('node:net').createServer((caller) => {
      caller.write(Buffer.concat([head, table]));
      caller.on('data', () => process.stdout.write('requests'));
    }).listen(${JSON.stringify(path)});`;
  return spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
}
