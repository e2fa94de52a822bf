import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startCountingProxy, type CountingProxy, type PendingCall } from './counting-proxy';
import { eventually } from './eventually';
import { startTestEnv, type TestEnv } from './test-env';

/** What a client meets: a gateway with models that work and models that fail, behind a proxy that counts. */
export interface ClientTestEnv {
  readonly testEnv: TestEnv;
  readonly proxy: CountingProxy;
  /** Waits until another call like this one runs in the gateway. */
  runBeside(call: PendingCall): Promise<void>;
  /** A call that runs until it is told to end. */
  occupySlot(apiKey: string): Promise<() => void>;
  stop(): Promise<void>;
}

/** The ids of the models, by what becomes of a call. */
export const clientModels = {
  works: 'test/works',
  upstreamConfigError: 'test/set-up-wrongly',
  upstreamError: 'test/fails',
  noCapacity: 'test/is-overloaded',
} as const;

/** How long the emulator thinks about a prompt that has to be in flight while a client calls: the clients do not wait. */
export const SLOW = '[[delay:5000]] Hello';

export async function startClientTestEnv(): Promise<ClientTestEnv> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-clients-'));
  const modelsFile = path.join(folder, 'models.yaml');
  writeFileSync(modelsFile, MODELS);
  const testEnv = await startTestEnv({ modelsFile });
  const proxy = await startCountingProxy(testEnv.gateway.baseUrl);
  const running: Promise<unknown>[] = [];

  const oneMoreInFlight = async (start: () => Promise<unknown>) => {
    const before = await inFlight(testEnv);
    running.push(start().catch(() => undefined));
    await eventually('the call is in flight', async () =>
      (await inFlight(testEnv)) > before ? true : undefined,
    );
  };

  return {
    testEnv,
    proxy,
    runBeside: ({ url, headers, body }) =>
      oneMoreInFlight(async () => (await fetch(url, { method: 'POST', headers, body })).text()),
    async occupySlot(apiKey) {
      const abort = new AbortController();
      await oneMoreInFlight(() =>
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

async function inFlight(testEnv: TestEnv): Promise<number> {
  const stats = await fetch(new URL('/_emulator/stats', testEnv.emulatorUrl));
  return ((await stats.json()) as { in_flight: number }).in_flight;
}

/** One attempt upstream, so that the gateway's own retries neither slow the tests nor open its circuit breaker. */
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
    capabilities: [tools, json_mode, parallel_tool_calls]
    prices: { input: '0.50', output: '1.50' }
`,
  )
  .join('')}`;
