import { createPeriodicTask } from '@gateway/runtime';
import type { AdminClient, SeededRandom } from '@gateway/test-support';

/** The model of every request. */
export const MODEL = 'chaos/model';

/** US dollars per million tokens; no two versions in a row have the same. */
const PRICES = [
  `{ input: '0.30', cached_input: '0.03', output: '1.70', reasoning: '2.30' }`,
  `{ input: '0.60', cached_input: '0.06', output: '3.40', reasoning: '4.60' }`,
  `{ input: '0.21', output: '1.23' }`,
] as const;
const INTERVAL_MS = 2_000;

const catalogueWith = (prices: string): string => `providers:
  - name: emulator
    base_url: \${MODEL_EMULATOR_URL}
    max_attempts: 2
    timeouts: { first_byte_ms: 4000, idle_ms: 4000 }
models:
  - id: ${MODEL}
    targets: [{ provider: emulator, model: emu-standard }]
    context_window: 131072
    max_output_tokens: 16384
    prices: ${prices}
`;

export const FIRST_CATALOGUE = catalogueWith(PRICES[0]);

interface State {
  readonly version: { readonly version: number } | null;
  readonly draft: { readonly revision: number } | null;
}

export interface PriceChanges {
  /** The versions that were published, the first one not included. */
  readonly published: number;
  stop(): Promise<void>;
}

/** Publishes versions of the catalogue with other prices, as an operator does. */
export function startPriceChanges(dashboard: AdminClient, random: SeededRandom): PriceChanges {
  let published = 0;
  let current: string = PRICES[0];

  async function publish(): Promise<void> {
    const prices = random.pick(PRICES.filter((each) => each !== current));
    const { version, draft } = await dashboard.call<State>('GET', '/api/operator/catalogue/state');
    const { draft: saved } = await dashboard.call<{ draft: { revision: number } }>(
      'PUT',
      '/api/operator/catalogue/draft',
      { text: catalogueWith(prices), expected_revision: draft?.revision ?? 0 },
    );
    await dashboard.call('POST', '/api/operator/catalogue/publish', {
      draft_revision: saved.revision,
      expected_version: version?.version ?? 0,
      comment: 'Other prices.',
    });
    current = prices;
    published += 1;
  }

  // The dashboard, the routers or their database may be unavailable.
  const task = createPeriodicTask(() => publish().catch(() => undefined), INTERVAL_MS);
  task.start();
  return {
    get published() {
      return published;
    },
    stop: () => task.stop(),
  };
}
