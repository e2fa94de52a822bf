import { settledGeneration } from './accounting';
import type { CountedCall, PendingCall } from './counting-proxy';
import type { ClientAnswer, ClientOptions, ClientProcess } from './client-process';
import { clientModels, startClientTestEnv, type ClientTestEnv } from './client-test-env';
import { situations, type Situation } from './client-situations';

/** What a client makes of one situation. */
export interface Reaction {
  /** Calls that reach the gateway for one call of the program, with the client's default settings. */
  readonly calls: number;
  /** What it waits before its retries: at least what the answer's retry-after says, or a backoff of its own. */
  readonly waits?: 'as told' | 'own backoff';
  /** What a program reads from the error, beside the envelope, which every program can read. */
  readonly failure: Readonly<Record<string, unknown>>;
}

export interface ClientUnderTest {
  readonly name: string;
  /** `it`, or what stands for it where the client is missing. */
  readonly it?: jest.It;
  start(): ClientProcess;
  readonly reactions: Readonly<Record<Situation, Reaction>>;
  /** A stream that fails midway: what a program sees of it. Never a complete answer. */
  readonly brokenStream: Pick<ClientAnswer, 'failure' | 'value'>;
  /** Guarantees of this client alone. */
  more?(it: jest.It, at: ClientAtWork): void;
}

export interface ClientAtWork {
  readonly testEnv: ClientTestEnv;
  /** Runs a command against the gateway and gives back its answer and the calls that it took. */
  run(
    command: string,
    options?: Partial<ClientOptions>,
    beforeFirst?: (call: PendingCall) => Promise<void>,
  ): Promise<Run>;
}

interface Run extends ClientAnswer {
  readonly calls: readonly CountedCall[];
}

/** A retry sooner than this would be hammering. */
const SHORTEST_OWN_BACKOFF_MS = 300;
/** A client that is told to wait until midnight sleeps longer; LangChain's longest backoff is a little shorter. */
const LONGEST_WAIT_MS = 64_001;

/** The guarantees that every client has, as users run it: unchanged and with its defaults, only that its waits take no time. */
export function describeClient(client: ClientUnderTest): void {
  describe(client.name, () => {
    const run = client.it ?? it;
    let testEnv: ClientTestEnv | undefined;
    let program: ClientProcess | undefined;
    let apiKey: string;

    const work: ClientAtWork = {
      get testEnv() {
        if (!testEnv) throw new Error('the gateway has not started');
        return testEnv;
      },
      async run(command, options, beforeFirst) {
        if (!program) throw new Error('the client has not started');
        const { proxy } = work.testEnv;
        proxy.reset(beforeFirst);
        const answer = await program.run(command, {
          baseURL: proxy.baseUrl,
          apiKey,
          model: clientModels.works,
          prompt: 'Hello',
          ...options,
        });
        return { ...answer, calls: [...proxy.calls] };
      },
    };

    beforeAll(async () => {
      program = client.start();
      testEnv = await startClientTestEnv();
      ({ apiKey } = await testEnv.testEnv.tenant());
    }, 90_000);

    afterAll(async () => {
      await program?.stop();
      await testEnv?.stop();
    }, 60_000);

    run.each(situations.map((one) => [one.name, one] as const))(
      '%s: the right error, and no more calls than expected',
      async (name, situation) => {
        const expected = client.reactions[name];
        const prepared = await situation.prepare(work.testEnv, client.name);
        const { calls, waitsMs, failure, value } = await work
          .run('complete', prepared.options, prepared.beforeFirst)
          .finally(prepared.clean);

        expect({ value, calls: calls.map(({ status }) => status) }).toEqual({
          value: undefined,
          calls: Array.from({ length: expected.calls }, () => situation.status),
        });
        expectFailure(failure, { ...situation.envelope, status: situation.status, ...expected.failure });
        expect(failure?.requestId).toBe(calls.at(-1)?.responseHeaders['x-request-id']);
        expectWaits(calls, waitsMs, expected.waits);
        // A retry with another key, or with none, might be charged a second time.
        const keys = calls.map(({ requestHeaders }) => requestHeaders['idempotency-key']);
        expect(new Set(keys)).toEqual(new Set([prepared.options.headers?.['Idempotency-Key']]));
      },
      30_000,
    );

    run('completes', async () => {
      const { value, calls } = await work.run('complete');
      expect(value).toEqual(expect.stringContaining('Hello'));
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('streams to the end', async () => {
      const { value, calls } = await work.run('stream');
      expect(value).toMatchObject({ text: expect.stringContaining('Hello'), finishReason: 'stop' });
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('calls a tool and brings its result back', async () => {
      const { value, calls } = await work.run('callTool');
      expect(value).toEqual({ text: expect.stringMatching(/\S/), cities: [expect.stringMatching(/\S/)] });
      expect(calls.map(({ status }) => status)).toEqual([200, 200]);
    });

    run('takes no stream that fails midway for complete, and does not start it again', async () => {
      const { value, failure, calls } = await work.run('stream', { prompt: '[[fault:cut-after:3]] Hello' });
      expect(failure === undefined).toBe(client.brokenStream.failure === undefined);
      expectFailure(failure, client.brokenStream.failure ?? {});
      expect(value).toEqual(client.brokenStream.value);
      expect(calls).toHaveLength(1);
    });

    run('is told of a failure before a stream begins by its real status', async () => {
      const { failure, calls } = await work.run('stream', { model: clientModels.noCapacity });
      const { calls: count, failure: expected } = client.reactions.no_capacity;
      expectFailure(failure, { status: 503, code: 'no_capacity', ...expected });
      expect(calls).toHaveLength(count);
    });

    run('gets the stored answer when it repeats an Idempotency-Key', async () => {
      const options = { headers: { 'Idempotency-Key': `replayed ${client.name}` } };
      const first = await work.run('complete', options);
      // Until then the key counts as in flight.
      const id = String(first.calls[0]?.responseHeaders['x-generation-id']);
      await settledGeneration(work.testEnv.testEnv.gateway.baseUrl, apiKey, id);
      const second = await work.run('complete', options);
      expect(second.value).toEqual(first.value);
      expect(second.calls[0]?.responseHeaders['idempotent-replayed']).toBe('true');
    });

    client.more?.(run, work);
  });
}

/** Compares what is expected of the error, where undefined means that the error does not tell it. */
function expectFailure(failure: ClientAnswer['failure'], expected: Readonly<Record<string, unknown>>): void {
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, failure?.[name]]))).toEqual(expected);
}

function expectWaits(
  calls: readonly CountedCall[],
  waitsMs: readonly number[],
  kind: Reaction['waits'],
): void {
  expect(waitsMs).toHaveLength(calls.length - 1);
  for (const [index, waitMs] of waitsMs.entries()) {
    const told = Number(calls[index]?.responseHeaders['retry-after-ms']);
    // A client that reckons in seconds loses a part of a millisecond.
    expect(waitMs + 1).toBeGreaterThanOrEqual(kind === 'as told' ? told : SHORTEST_OWN_BACKOFF_MS);
    if (kind === 'as told') expect(waitMs).toBeLessThan(LONGEST_WAIT_MS);
  }
}
