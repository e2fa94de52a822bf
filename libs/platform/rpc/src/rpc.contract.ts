import { toAbortSignal, type CancelSignal } from '@gateway/base';
import { once } from 'node:events';
import { GatewayError } from '@gateway/errors';
import { createClient } from './client';
import {
  bindService,
  type BoundService,
  type CallContext,
  type CallMetadata,
  type MessageCodec,
  type RpcClient,
} from './definition';
import { isRpcCancelled, isRpcDeadlineExceeded, isRpcUnavailable, isRpcUnimplemented } from './rpc-error';
import type { RpcLog } from './served-methods';
import type { RpcTransport } from './transport';

interface OpenTransport {
  readonly transport: RpcTransport;
  close(): Promise<void>;
}

interface TransportUnderTestOptions {
  readonly log: RpcLog;
  readonly maxMessageBytes: number;
}

export type OpenTransportUnderTest = (
  services: readonly BoundService[],
  options: TransportUnderTestOptions,
) => Promise<OpenTransport>;

interface Note {
  readonly text: string;
  readonly number: number;
}

function jsonCodec<Message>(): MessageCodec<Message> {
  return {
    encode: (message) => ({ finish: () => Buffer.from(JSON.stringify(message)) }),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as Message,
  };
}

const noteCodec = jsonCodec<Note>();
const method = { requestType: noteCodec, responseType: noteCodec, requestStream: false } as const;

const NotesDefinition = {
  name: 'Notes',
  fullName: 'gateway.test.v1.Notes',
  methods: {
    echo: { ...method, name: 'Echo', responseStream: false },
    list: { ...method, name: 'List', responseStream: true },
  },
} as const;

type Echo = (request: Note, context: CallContext) => Promise<Note>;
type List = (request: Note, context: CallContext) => AsyncIterable<Note>;

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Longer than any test. */
const LONG_MS = 60_000;
const note = (number: number, text = ''): Note => ({ number, text });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function caught(work: Promise<unknown> | AsyncIterable<unknown>): Promise<unknown> {
  try {
    if (Symbol.asyncIterator in work) for await (const _ of work);
    else await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function firstRejection(signal: CancelSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

/** The guarantees of every RpcTransport. */
export function describeRpcTransport(
  name: string,
  carries: RpcTransport['carries'],
  open: OpenTransportUnderTest,
): void {
  describe(`RPC ${name}`, () => {
    let echo: Echo;
    let list: List;
    let opened: OpenTransport;
    let client: RpcClient<typeof NotesDefinition>;
    let logged: { level: string; fields: object }[];

    beforeAll(async () => {
      const log: RpcLog = {
        warn: (fields) => logged.push({ level: 'warn', fields }),
        error: (fields) => logged.push({ level: 'error', fields }),
      };
      const service = bindService(NotesDefinition, {
        echo: (request, context) => echo(request, context),
        list: (request, context) => list(request, context),
      });
      opened = await open([service], { log, maxMessageBytes: MAX_MESSAGE_BYTES });
      client = createClient(NotesDefinition, opened.transport, { unaryTimeoutMs: LONG_MS });
      expect(opened.transport.carries).toBe(carries);
    });
    afterAll(() => opened.close());
    beforeEach(() => {
      logged = [];
      echo = async (request) => request;
      list = async function* () {};
    });

    describe('unary calls', () => {
      it('send a message and return the response', async () => {
        echo = async ({ number, text }) => note(number + 1, `${text}, too`);
        expect(await client.echo(note(1, 'äöü €'))).toEqual(note(2, 'äöü €, too'));
      });

      it('isolate the caller from changes that a handler makes to the request', async () => {
        const request = note(1);
        echo = async (message) => Object.assign(message, { text: 'changed' });
        await client.echo(request).catch(() => undefined);
        expect(request).toEqual(note(1));
      });

      it('isolate the handler from changes that a caller makes to the response', async () => {
        const retained = note(1);
        echo = async () => retained;
        const response = await client.echo(note(0));
        try {
          Object.assign(response, { text: 'changed' });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
        expect(retained).toEqual(note(1));
      });

      it('run concurrently, each with its own response', async () => {
        const pending: (() => void)[] = [];
        echo = (request) =>
          new Promise((resolve) => {
            pending.push(() => resolve(request));
            // Responds in reverse order once all calls have arrived.
            if (pending.length === 100) for (const respond of pending.reverse()) respond();
          });
        const numbers = Array.from({ length: 100 }, (_, index) => index);
        const responses = await Promise.all(numbers.map((number) => client.echo(note(number))));
        expect(responses.map((response) => response.number)).toEqual(numbers);
      });

      it('support messages of several megabytes', async () => {
        const text = 'x'.repeat(8 * 1024 * 1024);
        expect((await client.echo(note(1, text))).text).toHaveLength(text.length);
      });

      // Messages that are passed by reference need no size limit.
      const bounded = carries === 'bytes' ? ['request', 'response'] : [];
      for (const which of bounded) {
        it(`refuse a ${which} over the limit, and recover`, async () => {
          const text = 'x'.repeat(MAX_MESSAGE_BYTES);
          echo = async (request) => (which === 'response' ? note(0, text) : request);
          const error = await caught(client.echo(note(1, which === 'request' ? text : '')));
          expect(error).toMatchObject({ code: 'internal_error' });
          echo = async (request) => request;
          expect(await client.echo(note(3))).toEqual(note(3));
        });
      }
    });

    describe('metadata', () => {
      it('arrives unchanged and without additions', async () => {
        let received: object | undefined;
        echo = async (request, { metadata }) => {
          received = metadata;
          return request;
        };
        const metadata = { traceparent: '00-ab-cd-01', 'x-request-id': 'req-1' };
        await client.echo(note(1), { metadata });
        expect(received).toEqual(metadata);
        await client.echo(note(1));
        expect(received).toEqual({});
      });

      it('is sent with streams', async () => {
        list = async function* (_, { metadata }) {
          yield note(0, metadata['x-request-id']);
        };
        for await (const message of client.list(note(1), { metadata: { 'x-request-id': 'req-2' } })) {
          expect(message.text).toBe('req-2');
        }
        expect.assertions(1);
      });

      it.each<CallMetadata>([
        { 'some-bin': 'x' },
        { 'X-Upper': 'x' },
        { 'grpc-x': 'x' },
        { name: 'line\nbreak' },
        { name: 'ü' },
      ])('that some transport does not support is refused: %j', async (metadata) => {
        expect(await caught(client.echo(note(1), { metadata }))).toMatchObject({ code: 'internal_error' });
        expect(await caught(client.list(note(1), { metadata }))).toMatchObject({ code: 'internal_error' });
      });
    });

    describe('errors', () => {
      const refusal = new GatewayError('context_length_exceeded', {
        message: 'Too long: ünïcode €.',
        param: 'messages[0].content',
        metadata: { estimated_tokens: 12, nested: { list: [1, 'two', null] } },
        retryAfterMs: 1_500,
        internalMessage: 'hunter2',
        cause: new Error('hunter3'),
      });
      const publicParts = {
        code: 'context_length_exceeded',
        message: 'Too long: ünïcode €.',
        param: 'messages[0].content',
        metadata: { estimated_tokens: 12, nested: { list: [1, 'two', null] } },
        retryAfterMs: 1_500,
        internalMessage: undefined,
        cause: undefined,
      };

      it('of the error table arrive with all public fields and no internal ones', async () => {
        echo = () => Promise.reject(refusal);
        const error = await caught(client.echo(note(1)));
        expect(error).toBeInstanceOf(GatewayError);
        expect(error).toMatchObject(publicParts);
        expect(logged).toEqual([
          { level: 'warn', fields: { err: refusal, rpc: 'gateway.test.v1.Notes/Echo' } },
        ]);
      });

      it('of the error table arrive from streams, after the messages before them', async () => {
        list = async function* () {
          yield note(1);
          yield note(2);
          throw refusal;
        };
        const received: number[] = [];
        const reading = (async () => {
          for await (const message of client.list(note(1))) {
            received.push(message.number);
            await turn();
          }
        })();
        expect(await caught(reading)).toMatchObject(publicParts);
        expect(received).toEqual([1, 2]);
      });

      it('without internal fields are not logged', async () => {
        echo = () => Promise.reject(new GatewayError('rpm_exceeded', { retryAfterMs: 1_000 }));
        await caught(client.echo(note(1)));
        expect(logged).toEqual([]);
      });

      it('that are too large arrive with their code', async () => {
        echo = () =>
          Promise.reject(
            new GatewayError('invalid_request', {
              message: '€'.repeat(50_000),
              metadata: { long: 'x'.repeat(50_000) },
            }),
          );
        const error = await caught(client.echo(note(1)));
        expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/^€{100}/) });
      });

      it('with metadata that JSON cannot represent arrive without it', async () => {
        echo = () => Promise.reject(new GatewayError('invalid_request', { metadata: { amount: 1n } }));
        expect(await caught(client.echo(note(1)))).toMatchObject({ code: 'invalid_request', metadata: {} });
      });

      const unknownThrows: [string, () => never][] = [
        [
          'an error',
          () => {
            throw new TypeError('password is hunter2');
          },
        ],
        [
          'a string',
          () => {
            throw 'hunter2';
          },
        ],
        [
          'nothing at all',
          () => {
            throw undefined;
          },
        ],
      ];
      it.each(unknownThrows)('that are unknown leak nothing and are logged: %s', async (_, fail) => {
        const leaksNothing = (error: unknown) => {
          expect(error).toMatchObject({
            code: 'internal_error',
            message: new GatewayError('internal_error').message,
            metadata: {},
            internalMessage: undefined,
            cause: undefined,
          });
          expect(JSON.stringify(error)).not.toContain('hunter2');
        };
        echo = fail;
        leaksNothing(await caught(client.echo(note(1))));
        echo = async () => fail();
        leaksNothing(await caught(client.echo(note(1))));
        list = fail;
        leaksNothing(await caught(client.list(note(1))));
        list = async function* () {
          yield note(1);
          fail();
        };
        leaksNothing(await caught(client.list(note(1))));
        expect(logged.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error']);
      });

      it('of an unknown method are unimplemented, and no_capacity for clients', async () => {
        const stranger = createClient(
          { ...NotesDefinition, fullName: 'gateway.test.v1.Stranger' },
          opened.transport,
        );
        for (const error of [await caught(stranger.echo(note(1))), await caught(stranger.list(note(1)))]) {
          expect(isRpcUnimplemented(error)).toBe(true);
          expect(error).toMatchObject({ code: 'no_capacity' });
        }
      });

      it('of the error table are not classified as failures of the transport', async () => {
        for (const code of ['no_capacity', 'request_timeout', 'upstream_error'] as const) {
          echo = () => Promise.reject(new GatewayError(code));
          const error = await caught(client.echo(note(1)));
          expect(error).toMatchObject({ code });
          expect([isRpcUnavailable(error), isRpcDeadlineExceeded(error), isRpcCancelled(error)]).toEqual([
            false,
            false,
            false,
          ]);
        }
      });
    });

    describe('deadlines', () => {
      it('reach the handler', async () => {
        let deadline: number | undefined;
        echo = async (request, context) => {
          deadline = context.deadlineUnixMs;
          return request;
        };
        await client.echo(note(1), { timeoutMs: LONG_MS });
        expect(Math.abs((deadline ?? 0) - Date.now() - LONG_MS)).toBeLessThan(LONG_MS / 2);
      });

      it('end a unary call and abort its handler', async () => {
        let handlerEnded: Promise<unknown> = Promise.resolve();
        echo = (_, { signal }) => {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          return new Promise(() => undefined);
        };
        const error = await caught(client.echo(note(1), { timeoutMs: 30 }));
        expect(isRpcDeadlineExceeded(error)).toBe(true);
        expect(error).toMatchObject({
          name: 'RpcDeadlineExceeded',
          code: 'no_capacity',
          message: expect.stringMatching(/^An internal service did not respond in time/),
          internalMessage: expect.stringContaining('Echo'),
        });
        await handlerEnded;
      });

      it('end a stream and abort its handler, which runs its finally', async () => {
        let cleanUp: () => void = () => undefined;
        const cleanedUp = new Promise<void>((resolve) => {
          cleanUp = resolve;
        });
        list = async function* (_, { signal }) {
          try {
            yield note(1);
            await firstRejection(signal);
          } finally {
            cleanUp();
          }
        };
        const error = await caught(client.list(note(1), { timeoutMs: 50 }));
        expect(isRpcDeadlineExceeded(error)).toBe(true);
        await cleanedUp;
      });

      it('that have passed prevent the handler from running', async () => {
        let ran = false;
        echo = async (request) => {
          ran = true;
          return request;
        };
        expect(isRpcDeadlineExceeded(await caught(client.echo(note(1), { timeoutMs: 0 })))).toBe(true);
        expect(isRpcDeadlineExceeded(await caught(client.list(note(1), { timeoutMs: 0 })))).toBe(true);
        expect(ran).toBe(false);
      });

      it('may be months away', async () => {
        expect(await client.echo(note(1), { timeoutMs: 2 ** 33 })).toEqual(note(1));
        list = async function* () {
          yield note(2);
        };
        const stream = client.list(note(1), { timeoutMs: 2 ** 33 })[Symbol.asyncIterator]();
        expect((await stream.next()).value).toEqual(note(2));
        await stream.return?.();
      });

      it('do not apply to streams by default', async () => {
        let deadline: number | undefined = 1;
        list = async function* (_, context) {
          deadline = context.deadlineUnixMs;
          yield note(1);
        };
        for await (const _ of client.list(note(1)));
        expect(deadline).toBeUndefined();
      });
    });

    describe('cancellation', () => {
      it('rejects a unary call and reaches its handler', async () => {
        const controller = new AbortController();
        let handlerEnded: Promise<unknown> = Promise.resolve();
        echo = (_, { signal }) => {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          controller.abort();
          return new Promise(() => undefined);
        };
        const error = await caught(client.echo(note(1), { signal: controller.signal }));
        expect(isRpcCancelled(error)).toBe(true);
        await handlerEnded;
      });

      it('is visible to a handler that reads its signal later', async () => {
        const controller = new AbortController();
        let readSignal: () => void = () => undefined;
        const sawAbort = new Promise<boolean>((resolve) => {
          echo = async (request, context) => {
            await new Promise<void>((go) => {
              readSignal = go;
              controller.abort();
            });
            // Over a network, the cancellation may not have arrived yet.
            if (!context.signal.aborted) await once(toAbortSignal(context.signal), 'abort');
            resolve(context.signal.aborted);
            return request;
          };
        });
        await caught(client.echo(note(1), { signal: controller.signal }));
        readSignal();
        expect(await sawAbort).toBe(true);
      });

      it('rejects a pending stream read immediately, even if the handler does not respond', async () => {
        const controller = new AbortController();
        let handlerEnded: Promise<unknown> = Promise.resolve();
        list = async function* (_, { signal }) {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          yield note(1);
          await new Promise(() => undefined);
        };
        const stream = client.list(note(1), { signal: controller.signal })[Symbol.asyncIterator]();
        expect((await stream.next()).value).toEqual(note(1));
        const read = caught(stream.next());
        controller.abort();
        expect(isRpcCancelled(await read)).toBe(true);
        expect(await stream.next()).toEqual({ done: true, value: undefined });
        await handlerEnded;
      });

      it('before the call prevents the handler from running', async () => {
        let ran = false;
        echo = async (request) => {
          ran = true;
          return request;
        };
        const signal = AbortSignal.abort();
        expect(isRpcCancelled(await caught(client.echo(note(1), { signal })))).toBe(true);
        expect(isRpcCancelled(await caught(client.list(note(1), { signal })))).toBe(true);
        expect(ran).toBe(false);
      });

      it('is not triggered by the normal end of a call', async () => {
        const signals: CancelSignal[] = [];
        echo = async (request, { signal }) => {
          signals.push(signal);
          return request;
        };
        list = async function* (_, { signal }) {
          signals.push(signal);
          yield note(1);
        };
        await client.echo(note(1));
        for await (const _ of client.list(note(1)));
        // Over a connection, the end of a call is reported later.
        for (let index = 0; index < 20; index += 1) await client.echo(note(index));
        expect(signals).toHaveLength(22);
        expect(signals.slice(0, 10).map((signal) => signal.aborted)).toEqual(Array(10).fill(false));
      });

      it('after the call has no effect, and leaves no listener on the signal', async () => {
        const controller = new AbortController();
        let added = 0;
        let removed = 0;
        const { signal } = controller;
        const add = signal.addEventListener.bind(signal);
        const remove = signal.removeEventListener.bind(signal);
        signal.addEventListener = (...values: Parameters<typeof add>) => {
          added += 1;
          add(...values);
        };
        signal.removeEventListener = (...values: Parameters<typeof remove>) => {
          removed += 1;
          remove(...values);
        };
        list = async function* () {
          yield note(1);
        };
        await client.echo(note(1), { signal });
        for await (const _ of client.list(note(1), { signal }));
        expect(removed).toBeGreaterThanOrEqual(added);
        expect(added).toBe(2);
        controller.abort();
      });
    });

    describe('streams', () => {
      it('deliver all messages in order', async () => {
        list = async function* ({ number }) {
          for (let index = 0; index < number; index += 1) yield note(index);
        };
        const received: number[] = [];
        for await (const message of client.list(note(500))) received.push(message.number);
        expect(received).toEqual(Array.from({ length: 500 }, (_, index) => index));
      });

      it('may be empty', async () => {
        expect(await client.list(note(0))[Symbol.asyncIterator]().next()).toEqual({
          done: true,
          value: undefined,
        });
      });

      it('hold a bounded number of unread messages, then the handler waits', async () => {
        let produced = 0;
        const text = 'x'.repeat(64 * 1024);
        list = async function* () {
          for (; produced < 10_000; produced += 1) yield note(produced, text);
        };
        const stream = client.list(note(1))[Symbol.asyncIterator]();
        await stream.next();
        // Wait until the handler makes no more progress.
        for (let before = -1; before !== produced;) {
          before = produced;
          for (let turns = 0; turns < 200; turns += 1) await turn();
        }
        expect(produced).toBeLessThan(200);
        const unread = produced;
        for (let index = 0; index < unread + 50; index += 1) await stream.next();
        expect(produced).toBeGreaterThan(unread);
        await stream.return?.();
      });

      it('cancelled by their reader abort the handler, which runs its finally', async () => {
        let cleanUp: (aborted: boolean) => void = () => undefined;
        const cleanedUp = new Promise<boolean>((resolve) => {
          cleanUp = resolve;
        });
        list = async function* (_, { signal }) {
          try {
            for (let index = 0; ; index += 1) yield note(index);
          } finally {
            cleanUp(signal.aborted);
          }
        };
        for await (const message of client.list(note(1))) if (message.number === 3) break;
        expect(await cleanedUp).toBe(true);
        expect(logged).toEqual([]);
      });

      it('closed while the handler waits abort it as well', async () => {
        let handlerEnded: Promise<unknown> = Promise.resolve();
        list = async function* (_, { signal }) {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          yield note(1);
          await new Promise(() => undefined);
        };
        for await (const _ of client.list(note(1))) break;
        await handlerEnded;
      });

      it('that are never read do not run their handler', async () => {
        let ran = false;
        list = async function* () {
          ran = true;
          yield note(1);
        };
        const stream = client.list(note(1))[Symbol.asyncIterator]();
        await stream.return?.();
        await client.echo(note(1));
        expect(ran).toBe(false);
      });

      it('resolve concurrent reads in order', async () => {
        list = async function* ({ number }) {
          for (let index = 0; index < number; index += 1) yield note(index);
        };
        const stream = client.list(note(3))[Symbol.asyncIterator]();
        const reads = await Promise.all([
          stream.next(),
          stream.next(),
          stream.next(),
          stream.next(),
          stream.next(),
        ]);
        expect(reads.map(({ done, value }) => (done ? 'done' : (value as Note).number))).toEqual([
          0,
          1,
          2,
          'done',
          'done',
        ]);
      });
    });
  });
}
