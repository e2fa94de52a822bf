import { settledGeneration } from './accounting';
import type { CountedCall, PendingCall } from './counting-proxy';
import type { ClientResult, ClientOptions, ClientProcess } from './client-process';
import { clientModels, startClientTestEnv, type ClientTestEnv } from './client-test-env';
import { scenarios, type Scenario } from './client-scenarios';

/** How a client reacts to one scenario. */
export interface Reaction {
  /** Calls that reach the gateway for one call of the program, with the client's default settings. */
  readonly calls: number;
  /** The delay before retries: at least the response's retry-after, or the client's own backoff. */
  readonly retryDelays?: 'retry-after' | 'own backoff';
  /** What a program reads from the error, in addition to the envelope, which every client exposes. */
  readonly failure: Readonly<Record<string, unknown>>;
}

export interface ClientUnderTest {
  readonly name: string;
  /** `it`, or its replacement when the client is not installed. */
  readonly it?: jest.It;
  start(): ClientProcess;
  readonly reactions: Readonly<Record<Scenario, Reaction>>;
  /** What a program gets from a stream that fails midway; never a complete response. */
  readonly brokenStream: Pick<ClientResult, 'failure' | 'value'>;
  /** Tests of guarantees that only this client has. */
  ownTests?(it: jest.It, client: RunningClient): void;
}

interface RunningClient {
  readonly testEnv: ClientTestEnv;
  /** Runs a command against the gateway; returns its result and the calls that reached the gateway. */
  run(
    command: string,
    options?: Partial<ClientOptions>,
    beforeFirst?: (call: PendingCall) => Promise<void>,
  ): Promise<Run>;
}

interface Run extends ClientResult {
  readonly calls: readonly CountedCall[];
}

/** An earlier retry would overload the gateway. */
const MIN_OWN_BACKOFF_MS = 300;
/** Below a wait until midnight, above LangChain's longest backoff. */
const MAX_RETRY_DELAY_MS = 64_001;

/** The guarantees for every client, run as users run it: unmodified and with its defaults, except that retry delays are skipped. */
export function describeClient(underTest: ClientUnderTest): void {
  describe(underTest.name, () => {
    const run = underTest.it ?? it;
    let testEnv: ClientTestEnv | undefined;
    let program: ClientProcess | undefined;
    let apiKey: string;
    /** A key that allows JSON in streams. */
    let jsonKey: string;

    const client: RunningClient = {
      get testEnv() {
        if (!testEnv) throw new Error('the gateway is not running');
        return testEnv;
      },
      async run(command, options, beforeFirst) {
        if (!program) throw new Error('the client is not running');
        const { proxy } = client.testEnv;
        proxy.reset(beforeFirst);
        const result = await program.run(command, {
          baseURL: proxy.baseUrl,
          apiKey,
          model: clientModels.works,
          prompt: 'Hello',
          ...options,
        });
        return { ...result, calls: [...proxy.calls] };
      },
    };

    beforeAll(async () => {
      program = underTest.start();
      testEnv = await startClientTestEnv();
      const tenant = await testEnv.testEnv.tenant();
      ({ apiKey } = tenant);
      ({ apiKey: jsonKey } = await tenant.createKey({ json_streaming: true }));
    }, 90_000);

    afterAll(async () => {
      await program?.stop();
      await testEnv?.stop();
    }, 60_000);

    run.each(scenarios.map((one) => [one.name, one] as const))(
      '%s: raises the right error after the expected number of calls',
      async (name, scenario) => {
        const expected = underTest.reactions[name];
        const prepared = await scenario.prepare(client.testEnv, underTest.name);
        const { calls, retryDelaysMs, failure, value } = await client
          .run('complete', prepared.options, prepared.beforeFirst)
          .finally(prepared.clean);

        expect({ value, calls: calls.map(({ status }) => status) }).toEqual({
          value: undefined,
          calls: Array.from({ length: expected.calls }, () => scenario.status),
        });
        expectFailure(failure, { ...scenario.envelope, status: scenario.status, ...expected.failure });
        expect(failure?.requestId).toBe(calls.at(-1)?.responseHeaders['x-request-id']);
        expectRetryDelays(calls, retryDelaysMs, expected.retryDelays);
        // A retry with another key, or without one, could be charged twice.
        const keys = calls.map(({ requestHeaders }) => requestHeaders['idempotency-key']);
        expect(new Set(keys)).toEqual(new Set([prepared.options.headers?.['Idempotency-Key']]));
      },
      30_000,
    );

    run('completes', async () => {
      const { value, calls } = await client.run('complete');
      expect(value).toEqual(expect.stringContaining('Hello'));
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('streams to the end', async () => {
      const { value, calls } = await client.run('stream');
      expect(value).toMatchObject({ text: expect.stringContaining('Hello'), finishReason: 'stop' });
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('calls a tool and returns its result to the model', async () => {
      const { value, calls } = await client.run('callTool');
      expect(value).toEqual({ text: expect.stringMatching(/\S/), cities: [expect.stringMatching(/\S/)] });
      expect(calls.map(({ status }) => status)).toEqual([200, 200]);
    });

    run('gets structured output', async () => {
      const { value, calls } = await client.run('structured');
      expect(value).toEqual({ city: expect.any(String) });
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('streams structured output only with a key that allows JSON in streams', async () => {
      const refused = await client.run('streamStructured');
      expectFailure(refused.failure, { status: 400, code: 'json_mode_no_stream' });
      expect(refused.calls.map(({ status }) => status)).toEqual([400]);
      const { value, calls } = await client.run('streamStructured', { apiKey: jsonKey });
      expect(value).toEqual({ city: expect.any(String) });
      expect(calls.map(({ status }) => status)).toEqual([200]);
    });

    run('reports a stream that fails midway as incomplete, and does not retry it', async () => {
      const { value, failure, calls } = await client.run('stream', { prompt: '[[fault:cut-after:3]] Hello' });
      expect(failure === undefined).toBe(underTest.brokenStream.failure === undefined);
      expectFailure(failure, underTest.brokenStream.failure ?? {});
      expect(value).toEqual(underTest.brokenStream.value);
      expect(calls).toHaveLength(1);
    });

    run('reports a failure before the first chunk of a stream with its HTTP status', async () => {
      const { failure, calls } = await client.run('stream', { model: clientModels.noCapacity });
      const { calls: count, failure: expected } = underTest.reactions.no_capacity;
      expectFailure(failure, { status: 503, code: 'no_capacity', ...expected });
      expect(calls).toHaveLength(count);
    });

    run('gets the stored response when it repeats an Idempotency-Key', async () => {
      const options = { headers: { 'Idempotency-Key': `replayed ${underTest.name}` } };
      const first = await client.run('complete', options);
      // The key stays in flight until settlement.
      const id = String(first.calls[0]?.responseHeaders['x-generation-id']);
      await settledGeneration(client.testEnv.testEnv.gateway.baseUrl, apiKey, id);
      const second = await client.run('complete', options);
      expect(second.value).toEqual(first.value);
      expect(second.calls[0]?.responseHeaders['idempotent-replayed']).toBe('true');
    });

    underTest.ownTests?.(run, client);
  });
}

/** Compares the expected fields of an error; undefined means that the error lacks the field. */
function expectFailure(failure: ClientResult['failure'], expected: Readonly<Record<string, unknown>>): void {
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, failure?.[name]]))).toEqual(expected);
}

function expectRetryDelays(
  calls: readonly CountedCall[],
  retryDelaysMs: readonly number[],
  expected: Reaction['retryDelays'],
): void {
  expect(retryDelaysMs).toHaveLength(calls.length - 1);
  for (const [index, delayMs] of retryDelaysMs.entries()) {
    const retryAfterMs = Number(calls[index]?.responseHeaders['retry-after-ms']);
    // Clients that compute in seconds lose a fraction of a millisecond.
    expect(delayMs + 1).toBeGreaterThanOrEqual(
      expected === 'retry-after' ? retryAfterMs : MIN_OWN_BACKOFF_MS,
    );
    if (expected === 'retry-after') expect(delayMs).toBeLessThan(MAX_RETRY_DELAY_MS);
  }
}
