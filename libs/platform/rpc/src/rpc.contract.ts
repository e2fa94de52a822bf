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
    ask: { ...method, name: 'Ask', responseStream: false },
    list: { ...method, name: 'List', responseStream: true },
  },
} as const;

type Ask = (request: Note, context: CallContext) => Promise<Note>;
type List = (request: Note, context: CallContext) => AsyncIterable<Note>;

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Long enough that no test sees it pass. */
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

/** The promises of RpcTransport, whatever it carries. */
export function describeRpcTransport(
  name: string,
  carries: RpcTransport['carries'],
  open: OpenTransportUnderTest,
): void {
  describe(`RPC ${name}`, () => {
    let ask: Ask;
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
        ask: (request, context) => ask(request, context),
        list: (request, context) => list(request, context),
      });
      opened = await open([service], { log, maxMessageBytes: MAX_MESSAGE_BYTES });
      client = createClient(NotesDefinition, opened.transport, { unaryTimeoutMs: LONG_MS });
      expect(opened.transport.carries).toBe(carries);
    });
    afterAll(() => opened.close());
    beforeEach(() => {
      logged = [];
      ask = async (request) => request;
      list = async function* () {};
    });

    describe('unary calls', () => {
      it('carry a message there and back', async () => {
        ask = async ({ number, text }) => note(number + 1, `${text}, too`);
        expect(await client.ask(note(1, 'äöü €'))).toEqual(note(2, 'äöü €, too'));
      });

      it('keep what a handler does to its message from the caller', async () => {
        const request = note(1);
        ask = async (message) => Object.assign(message, { text: 'changed' });
        await client.ask(request).catch(() => undefined);
        expect(request).toEqual(note(1));
      });

      it('keep what a caller does to the answer from the handler', async () => {
        const kept = note(1);
        ask = async () => kept;
        const answer = await client.ask(note(0));
        try {
          Object.assign(answer, { text: 'changed' });
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
        expect(kept).toEqual(note(1));
      });

      it('run side by side, each with its own answer', async () => {
        const waiting: (() => void)[] = [];
        ask = (request) =>
          new Promise((resolve) => {
            waiting.push(() => resolve(request));
            // Nobody is answered before everybody has asked, and then the last one first.
            if (waiting.length === 100) for (const answer of waiting.reverse()) answer();
          });
        const numbers = Array.from({ length: 100 }, (_, index) => index);
        const answers = await Promise.all(numbers.map((number) => client.ask(note(number))));
        expect(answers.map((answer) => answer.number)).toEqual(numbers);
      });

      it('carry messages of several megabytes', async () => {
        const text = 'x'.repeat(8 * 1024 * 1024);
        expect((await client.ask(note(1, text))).text).toHaveLength(text.length);
      });

      // What is handed over takes no memory of its own, so that there is nothing to bound.
      const bounded = carries === 'bytes' ? ['request', 'response'] : [];
      for (const which of bounded) {
        it(`refuse a ${which} over the limit, and go on`, async () => {
          const text = 'x'.repeat(MAX_MESSAGE_BYTES);
          ask = async (request) => (which === 'response' ? note(0, text) : request);
          const error = await caught(client.ask(note(1, which === 'request' ? text : '')));
          expect(error).toMatchObject({ code: 'internal_error' });
          ask = async (request) => request;
          expect(await client.ask(note(3))).toEqual(note(3));
        });
      }
    });

    describe('metadata', () => {
      it('arrives as it was sent, and nothing else with it', async () => {
        let received: object | undefined;
        ask = async (request, { metadata }) => {
          received = metadata;
          return request;
        };
        const metadata = { traceparent: '00-ab-cd-01', 'x-request-id': 'req-1' };
        await client.ask(note(1), { metadata });
        expect(received).toEqual(metadata);
        await client.ask(note(1));
        expect(received).toEqual({});
      });

      it('travels with streams', async () => {
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
      ])('that not every transport can carry is refused: %j', async (metadata) => {
        expect(await caught(client.ask(note(1), { metadata }))).toMatchObject({ code: 'internal_error' });
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

      it('of the catalogue arrive with every public detail and no internal one', async () => {
        ask = () => Promise.reject(refusal);
        const error = await caught(client.ask(note(1)));
        expect(error).toBeInstanceOf(GatewayError);
        expect(error).toMatchObject(publicParts);
        expect(logged).toEqual([
          { level: 'warn', fields: { err: refusal, rpc: 'gateway.test.v1.Notes/Ask' } },
        ]);
      });

      it('of the catalogue arrive from streams as well, after the messages before them', async () => {
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

      it('with nothing hidden in them are not logged', async () => {
        ask = () => Promise.reject(new GatewayError('rpm_exceeded', { retryAfterMs: 1_000 }));
        await caught(client.ask(note(1)));
        expect(logged).toEqual([]);
      });

      it('with details too large for a header still arrive with their code', async () => {
        ask = () =>
          Promise.reject(
            new GatewayError('invalid_request', {
              message: '€'.repeat(50_000),
              metadata: { long: 'x'.repeat(50_000) },
            }),
          );
        const error = await caught(client.ask(note(1)));
        expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/^€{100}/) });
      });

      it('with metadata that is no JSON still arrive', async () => {
        ask = () => Promise.reject(new GatewayError('invalid_request', { metadata: { amount: 1n } }));
        expect(await caught(client.ask(note(1)))).toMatchObject({ code: 'invalid_request', metadata: {} });
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
      it.each(unknownThrows)('that are unknown leak nothing, and are logged: %s', async (_, fail) => {
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
        ask = fail;
        leaksNothing(await caught(client.ask(note(1))));
        ask = async () => fail();
        leaksNothing(await caught(client.ask(note(1))));
        list = fail;
        leaksNothing(await caught(client.list(note(1))));
        list = async function* () {
          yield note(1);
          fail();
        };
        leaksNothing(await caught(client.list(note(1))));
        expect(logged.map(({ level }) => level)).toEqual(['error', 'error', 'error', 'error']);
      });

      it('from an unknown method tell that there is none, which may be there later', async () => {
        const stranger = createClient(
          { ...NotesDefinition, fullName: 'gateway.test.v1.Stranger' },
          opened.transport,
        );
        for (const error of [await caught(stranger.ask(note(1))), await caught(stranger.list(note(1)))]) {
          expect(isRpcUnimplemented(error)).toBe(true);
          expect(error).toMatchObject({ code: 'no_capacity' });
        }
      });

      it('of the error table are not taken for failures of the transport', async () => {
        for (const code of ['no_capacity', 'request_timeout', 'upstream_error'] as const) {
          ask = () => Promise.reject(new GatewayError(code));
          const error = await caught(client.ask(note(1)));
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
        ask = async (request, context) => {
          deadline = context.deadlineUnixMs;
          return request;
        };
        await client.ask(note(1), { timeoutMs: LONG_MS });
        expect(Math.abs((deadline ?? 0) - Date.now() - LONG_MS)).toBeLessThan(LONG_MS / 2);
      });

      it('end a unary call and abort its handler', async () => {
        let handlerEnded: Promise<unknown> = Promise.resolve();
        ask = (_, { signal }) => {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          return new Promise(() => undefined);
        };
        const error = await caught(client.ask(note(1), { timeoutMs: 30 }));
        expect(isRpcDeadlineExceeded(error)).toBe(true);
        expect(error).toMatchObject({
          name: 'RpcDeadlineExceeded',
          code: 'no_capacity',
          message: expect.stringMatching(/^A service on our side did not answer in time/),
          internalMessage: expect.stringContaining('Ask'),
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

      it('that have passed keep the handler from running at all', async () => {
        let ran = false;
        ask = async (request) => {
          ran = true;
          return request;
        };
        expect(isRpcDeadlineExceeded(await caught(client.ask(note(1), { timeoutMs: 0 })))).toBe(true);
        expect(isRpcDeadlineExceeded(await caught(client.list(note(1), { timeoutMs: 0 })))).toBe(true);
        expect(ran).toBe(false);
      });

      it('do not bind streams that name none', async () => {
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
        ask = (_, { signal }) => {
          handlerEnded = once(toAbortSignal(signal), 'abort');
          controller.abort();
          return new Promise(() => undefined);
        };
        const error = await caught(client.ask(note(1), { signal: controller.signal }));
        expect(isRpcCancelled(error)).toBe(true);
        await handlerEnded;
      });

      it('is seen by a handler that first looks at its signal afterwards', async () => {
        const controller = new AbortController();
        let look: () => void = () => undefined;
        const looked = new Promise<boolean>((resolve) => {
          ask = async (request, context) => {
            await new Promise<void>((go) => {
              look = go;
              controller.abort();
            });
            // Over a network the news may still be under way.
            if (!context.signal.aborted) await once(toAbortSignal(context.signal), 'abort');
            resolve(context.signal.aborted);
            return request;
          };
        });
        await caught(client.ask(note(1), { signal: controller.signal }));
        look();
        expect(await looked).toBe(true);
      });

      it('rejects the read of a stream at once, though the handler does not answer', async () => {
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

      it('before the call keeps the handler from running at all', async () => {
        let ran = false;
        ask = async (request) => {
          ran = true;
          return request;
        };
        const signal = AbortSignal.abort();
        expect(isRpcCancelled(await caught(client.ask(note(1), { signal })))).toBe(true);
        expect(isRpcCancelled(await caught(client.list(note(1), { signal })))).toBe(true);
        expect(ran).toBe(false);
      });

      it('is not mistaken for by the normal end of a call', async () => {
        const signals: CancelSignal[] = [];
        ask = async (request, { signal }) => {
          signals.push(signal);
          return request;
        };
        list = async function* (_, { signal }) {
          signals.push(signal);
          yield note(1);
        };
        await client.ask(note(1));
        for await (const _ of client.list(note(1)));
        // Connections tell of the end of a call a little later.
        for (let index = 0; index < 20; index += 1) await client.ask(note(index));
        expect(signals).toHaveLength(22);
        expect(signals.slice(0, 10).map((signal) => signal.aborted)).toEqual(Array(10).fill(false));
      });

      it('after the call has no effect and leaves nothing on the signal', async () => {
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
        await client.ask(note(1), { signal });
        for await (const _ of client.list(note(1), { signal }));
        expect(removed).toBeGreaterThanOrEqual(added);
        expect(added).toBe(2);
        controller.abort();
      });
    });

    describe('streams', () => {
      it('carry messages in order to their end', async () => {
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
        // Until the handler makes no more progress.
        for (let before = -1; before !== produced;) {
          before = produced;
          for (let turns = 0; turns < 200; turns += 1) await turn();
        }
        expect(produced).toBeLessThan(200);
        const held = produced;
        for (let index = 0; index < held + 50; index += 1) await stream.next();
        expect(produced).toBeGreaterThan(held);
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

      it('left while the handler waits for something abort it as well', async () => {
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
        await client.ask(note(1));
        expect(ran).toBe(false);
      });

      it('answer reads that do not wait for their turn in order', async () => {
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
