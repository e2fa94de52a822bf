import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startCountingProxy, type CountingProxy, type PendingCall } from './counting-proxy';
import { eventually } from './eventually';
import { startTestEnv, type TestEnv } from './test-env';

/** A gateway with models that work and models that fail, behind a proxy that counts calls. */
export interface ClientTestEnv {
  readonly testEnv: TestEnv;
  readonly proxy: CountingProxy;
  /** Sends a copy of the call, and returns once it is in flight in the gateway. */
  runDuplicate(call: PendingCall): Promise<void>;
  /** Starts a call that occupies a slot until the returned function cancels it. */
  occupySlot(apiKey: string): Promise<() => void>;
  stop(): Promise<void>;
}

/** Model ids by the outcome of a call. */
export const clientModels = {
  works: 'test/works',
  upstreamConfigError: 'test/misconfigured',
  upstreamError: 'test/fails',
  noCapacity: 'test/overloaded',
} as const;

/** A prompt whose response takes long enough to be in flight while a client, which skips its delays, retries. */
export const SLOW = '[[delay:10000]] Hello';

export async function startClientTestEnv(): Promise<ClientTestEnv> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-clients-'));
  const modelsFile = path.join(folder, 'models.yaml');
  writeFileSync(modelsFile, MODELS);
  const testEnv = await startTestEnv({ modelsFile });
  const proxy = await startCountingProxy(testEnv.gateway.baseUrl);
  const running: Promise<unknown>[] = [];

  const waitUntilInFlight = async (start: () => Promise<unknown>) => {
    const before = await receivedCalls(testEnv);
    running.push(start().catch(() => undefined));
    await eventually('the call is in flight', async () =>
      (await receivedCalls(testEnv)) > before ? true : undefined,
    );
  };

  return {
    testEnv,
    proxy,
    runDuplicate: ({ url, headers, body }) =>
      waitUntilInFlight(async () => (await fetch(url, { method: 'POST', headers, body })).text()),
    async occupySlot(apiKey) {
      const abort = new AbortController();
      await waitUntilInFlight(() =>
        fetch(`${testEnv.gateway.baseUrl}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: clientModels.works,
            messages: [{ role: 'user', content: '[[delay:60000]]' }],
          }),
          signal: abort.signal,
        }),
      );
      return () => abort.abort();
    },
    async stop() {
      await Promise.all(running);
      await proxy.close();
      await testEnv.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Unlike the calls in flight, it never falls when an earlier call ends. */
async function receivedCalls(testEnv: TestEnv): Promise<number> {
  const stats = await fetch(new URL('/_emulator/stats', testEnv.emulatorUrl));
  return ((await stats.json()) as { received: number }).received;
}

/** One upstream attempt, so that the gateway's own retries neither slow the tests nor open its circuit breaker. */
const MODELS = `
providers:
  - name: emulator
    base_url: \${MODEL_EMULATOR_URL}
    max_attempts: 1
models:
${[
  [clientModels.works, 'emu-standard'],
  [clientModels.upstreamConfigError, 'emu-standard+fault:401'],
  [clientModels.upstreamError, 'emu-standard+fault:500'],
  [clientModels.noCapacity, 'emu-standard+fault:429'],
]
  .map(
    ([id, target]) => `
  - id: ${id}
    targets: [{ provider: emulator, model: '${target}' }]
    context_window: 131072
    max_output_tokens: 16384
    capabilities: [tools, json_mode, structured_outputs, parallel_tool_calls]
    prices: { input: '0.50', output: '1.50' }
`,
  )
  .join('')}`;
