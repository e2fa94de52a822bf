import { implement } from '@gateway/admin-calls';
import { createEstimator } from '@gateway/dashboard-api';
import type { Model } from '@gateway/contracts/inference-router';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import {
  createDashboardFixture,
  ownerWith,
  OPERATOR,
  type DashboardResponse,
  type Browser,
  type DashboardFixture,
} from './testing/dashboard-fixture';

/** Response bodies; each test checks the members that it reads. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

const TOKEN_PRICES = {
  inputNanoUsdPerMillion: 1_000_000_000n,
  cachedInputNanoUsdPerMillion: 500_000_000n,
  cacheWriteNanoUsdPerMillion: 1_250_000_000n,
  cacheWrite1hNanoUsdPerMillion: 2_000_000_000n,
  outputNanoUsdPerMillion: 4_000_000_000n,
  reasoningNanoUsdPerMillion: 3_000_000_000n,
  imageNanoUsdPerMillion: 750_000_000n,
};
const MODEL: Model = {
  id: 'acme/m',
  name: 'M',
  ownedBy: 'acme',
  createdUnixS: 1n,
  disabled: false,
  contextLength: 1_000,
  maxOutputTokens: 100,
  capabilities: ['tools'],
  reasoningEfforts: [],
  defaultReasoningEffort: undefined,
  prices: {
    ...TOKEN_PRICES,
    tiers: [{ abovePromptTokens: 200_000, ...TOKEN_PRICES, inputNanoUsdPerMillion: 7_000_000_000n }],
  },
  tokenCounting: {
    encoding: 'o200k_base',
    factor: 1,
    imageFormula: 'constant',
    imageTokens: 0,
    pageTokens: 1_500,
  },
  extraParameters: [],
  embeddingDimensions: [],
  forwardReasoningContent: false,
  targetPlaces: [{ provider: 'acme', region: 'eu' }],
  writesCacheImplicitly: true,
};
const DRAINED = { since: '2025-11-24T16:00:00.000Z', by: OPERATOR.email, reason: 'repair' };
const SHOWN_PRICES = {
  input_usd_per_million: '1',
  cached_input_usd_per_million: '0.5',
  cache_write_usd_per_million: '1.25',
  cache_write_1h_usd_per_million: '2',
  output_usd_per_million: '4',
  reasoning_usd_per_million: '3',
  image_usd_per_million: '0.75',
};
const SHOWN_MODEL = {
  ...{ id: 'acme/m', name: 'M', owned_by: 'acme', context_length: 1_000, max_output_tokens: 100 },
  capabilities: ['tools'],
  reasoning_efforts: [],
  target_places: [{ provider: 'acme', region: 'eu' }],
  prices: {
    ...SHOWN_PRICES,
    tiers: [{ above_prompt_tokens: 200_000, ...SHOWN_PRICES, input_usd_per_million: '7' }],
  },
};

let fixture: DashboardFixture;
let operator: Browser;
let owner: Browser;
let organizationId: string;
let drained: boolean;
let routerIsDown: boolean;
let ledgerIsDown: boolean;
let usageIsDown: boolean;

beforeAll(async () => {
  const target = () => ({ provider: 'acme', provider_model: 'm-1', drained: drained ? DRAINED : null });
  const model = (disabled: boolean, switchedOff: typeof DRAINED | null = null) => ({
    ...{ ...SHOWN_MODEL, disabled, disabled_in_file: false, switched_off: switchedOff },
    targets: [target()],
  });
  const whileRouterIsUp =
    <Body>(response: () => Body) =>
    async () => {
      if (routerIsDown) throw new Error('the router is down');
      return response();
    };
  async function* watchCatalogue() {
    yield { models: [MODEL, { ...MODEL, id: 'acme/off', disabled: true }] };
  }
  fixture = await createDashboardFixture({
    inferenceRouter: { watchCatalogue } as never,
    owners: {
      'billing-ledger': ownerWith(
        'billing-ledger',
        implement(endpoints.credit.balance, async () => ({
          balance: {
            ...{ total_credits_usd: '0', total_usage_usd: '0', balance_usd: '0' },
            ...{ reserved_usd: '0', available_usd: '0' },
          },
          low_balance: null,
        })),
        implement(parts.openHolds, async () => {
          if (ledgerIsDown) throw new Error('the ledger is down');
          return { count: 4, held_usd: '5', oldest_age_ms: null, overdue: 1 };
        }),
        implement(parts.ledgerReconciliation, async () => ({
          last_run_at: '2025-11-24T16:00:00.000Z',
          reconciled_until: null,
          known_differences: 1,
          differences: [
            {
              organization_id: 'org-1',
              kind: 'available',
              generation_id: null,
              expected_usd: '5',
              found_usd: '-0.000000001',
              first_seen_at: '2025-11-24T16:00:00.000Z',
            },
          ],
        })),
      ),
      'inference-router': ownerWith(
        'inference-router',
        implement(
          endpoints.operator.catalogue,
          whileRouterIsUp(() => ({
            catalogue: {
              ...{ version: '7', file: 'models.yaml', published_version: null, sha256: 'ab' },
              loaded_at: DRAINED.since,
              rejected: {
                since: DRAINED.since,
                issues: [{ message: 'models[0].id: is not unique', line: 3 }],
              },
              models: [model(false)],
            },
          })),
        ),
        implement(
          endpoints.operator.providerHealth,
          whileRouterIsUp(() => ({
            health: {
              ...{ window_ms: 300_000, observed_at: DRAINED.since, instance: 'router-1' },
              providers: [{ name: 'acme', calls_in_flight: 2, max_concurrent: 64 }],
              targets: [
                {
                  ...target(),
                  breaker: 'half_open' as const,
                  ...{ open_for_organizations: 1, calls: 10, failures: 3, calls_in_flight: 2 },
                  failures_by_kind: { failed: 2, timed_out: 1 },
                  first_event: null,
                  models: ['acme/m'],
                },
              ],
            },
          })),
        ),
        implement(
          parts.spool,
          whileRouterIsUp(() => ({ generations: 3, bytes: 900 })),
        ),
        implement(parts.models, async () => ({ data: [SHOWN_MODEL] })),
        implement(endpoints.operator.disableModel, async ({ body }) => {
          if (body.model !== MODEL.id) throw new DashboardError('not_found');
          return { model: model(body.disabled, body.disabled ? DRAINED : null) };
        }),
        implement(endpoints.operator.drainTarget, async ({ body }) => {
          if (body.provider_model !== 'm-1') throw new DashboardError('not_found');
          drained = body.drained;
          return { target: target() };
        }),
      ),
      'generation-query': ownerWith(
        'generation-query',
        implement(parts.usageReconciliation, async () => {
          if (usageIsDown) throw new Error('usage is down');
          const sums = { generations: 2, cost_usd: '0.000000007', charged_usd: '0.000000007' };
          return {
            compared_until: '2025-11-24T16:00:00.000Z',
            known_differences: 1,
            differences: [
              {
                organization_id: 'org-1',
                kind: 'hourly_sums',
                starts_at: '2025-11-24T15:00:00.000Z',
                expected: sums,
                found: { ...sums, generations: 3 },
                first_seen_at: '2025-11-24T16:00:00.000Z',
              },
            ],
          };
        }),
      ),
    },
    deadLetters: new Map([
      ['g', { countWaiting: async () => ({ groups: [{ topic: 't', group: 'g', events: 12n }] }) } as never],
    ]),
    estimateRequest: createEstimator({ count: (text) => text.length, countSize: ({ length }) => length }),
    settings: {
      host: '127.0.0.1',
      port: 0,
      version: '1.2.3',
      publicApiUrl: () => 'https://api.example.com/v1',
    },
  });
  operator = await fixture.signedIn(OPERATOR.email);
  organizationId = jsonOf(await operator.request('POST /api/organizations', { name: 'Acme' })).organization
    .id as string;
  await fixture.person('owner@example.com', { [organizationId]: 'owner' });
  owner = await fixture.signedIn('owner@example.com');
});
afterAll(() => fixture.stop());
beforeEach(() => {
  drained = false;
  routerIsDown = false;
  ledgerIsDown = false;
  usageIsDown = false;
});

const jsonOf = (response: DashboardResponse): Json => response.json;

describe('the operator', () => {
  it('sees the model catalogue, with the errors of a rejected change', async () => {
    const { catalogue } = jsonOf(await operator.request('GET /api/operator/catalogue'));
    expect(catalogue).toMatchObject({
      version: '7',
      file: 'models.yaml',
      rejected: { issues: [{ message: 'models[0].id: is not unique', line: 3 }] },
    });
    expect(catalogue.models[0]).toMatchObject({
      id: 'acme/m',
      prices: {
        ...SHOWN_PRICES,
        tiers: [{ above_prompt_tokens: 200_000, ...SHOWN_PRICES, input_usd_per_million: '7' }],
      },
      targets: [{ provider: 'acme', provider_model: 'm-1', drained: null }],
    });
  });

  it('sees the health of targets and settlement, and partial health while a service is unavailable', async () => {
    const { health } = jsonOf(await operator.request('GET /api/operator/providers'));
    expect(health.targets).toMatchObject([
      {
        breaker: 'half_open',
        open_for_organizations: 1,
        calls: 10,
        failures: 3,
        first_event: null,
        calls_in_flight: 2,
      },
    ]);
    const settlement = { open_holds: { count: 4, held_usd: '5', oldest_age_ms: null, overdue: 1 } };
    const lag = { event_log: [{ topic: 't', group: 'g', lag: 12 }] };
    expect(jsonOf(await operator.request('GET /api/operator/settlement')).health).toMatchObject({
      ...settlement,
      ...lag,
      spool: { generations: 3, bytes: 900 },
    });
    routerIsDown = true;
    expect(jsonOf(await operator.request('GET /api/operator/settlement')).health).toMatchObject({
      ...settlement,
      spool: null,
    });
    expect(jsonOf(await operator.request('GET /api/operator/version'))).toMatchObject({ version: '1.2.3' });
    routerIsDown = false;
    ledgerIsDown = true;
    expect(jsonOf(await operator.request('GET /api/operator/settlement')).health).toMatchObject({
      ...lag,
      open_holds: null,
      spool: { generations: 3 },
    });
  });

  it.each(['catalogue', 'providers'])(
    'gets 503 with the error envelope for %s when the router fails, without internal details',
    async (what) => {
      routerIsDown = true;
      const response = await operator.request(`GET /api/operator/${what}`);
      expect([response.status, response.error.code]).toEqual([503, 'unavailable']);
      expect(response.error.message).toMatch(/temporarily unavailable/);
      expect(JSON.stringify(response.json)).not.toContain('the router is down');
    },
  );

  it('sees the reconciliation of ledger and usage, and only that of the ledger while usage is unavailable', async () => {
    const read = async () =>
      jsonOf(await operator.request('GET /api/operator/reconciliation')).reconciliation;
    const at = new Date(1_764_000_000_000).toISOString();
    const ledger = {
      last_run_at: at,
      reconciled_until: null,
      known_differences: 1,
      differences: [
        {
          organization_id: 'org-1',
          kind: 'available',
          generation_id: null,
          expected_usd: '5',
          found_usd: '-0.000000001',
          first_seen_at: at,
        },
      ],
    };
    const sums = { generations: 2, cost_usd: '0.000000007', charged_usd: '0.000000007' };
    expect(await read()).toMatchObject({
      ledger,
      usage: {
        compared_until: at,
        differences: [{ kind: 'hourly_sums', expected: sums, found: { ...sums, generations: 3 } }],
      },
    });
    usageIsDown = true;
    expect(await read()).toMatchObject({ ledger, usage: null });
  });

  it('disables and enables a model', async () => {
    const send = (change: object) =>
      operator.request('PUT /api/operator/models/disabled', {
        ...{ model: MODEL.id, disabled: true, reason: 'wrong price' },
        ...change,
      });
    expect(jsonOf(await send({})).model).toMatchObject({
      id: MODEL.id,
      disabled: true,
      disabled_in_file: false,
      switched_off: { by: OPERATOR.email, reason: 'repair' },
    });
    expect(jsonOf(await send({ disabled: false })).model).toMatchObject({
      disabled: false,
      switched_off: null,
    });
    expect((await send({ model: 'acme/none' })).status).toBe(404);
    expect((await send({ reason: ' ' })).error.param).toBe('reason');
  });

  it('drains a target', async () => {
    const body = { provider: 'acme', provider_model: 'm-1', drained: true, reason: 'repair' };
    expect(jsonOf(await operator.request('PUT /api/operator/targets/drain', body)).target).toMatchObject({
      drained: { by: OPERATOR.email, reason: 'repair' },
    });
    expect(
      (await operator.request('PUT /api/operator/targets/drain', { ...body, provider_model: 'x' })).status,
    ).toBe(404);
    expect(
      (await operator.request('PUT /api/operator/targets/drain', { ...body, reason: ' ' })).error.param,
    ).toBe('reason');
  });

  it("an organization's owner has no access to operator endpoints", async () => {
    for (const line of ['catalogue', 'providers', 'settlement', 'reconciliation', 'version'].map(
      (name) => `GET /api/operator/${name}`,
    )) {
      expect((await owner.request(line)).error.code).toBe('forbidden');
    }
    expect(jsonOf(await owner.request('GET /api/models')).data.map(({ id }: Json) => id)).toEqual(['acme/m']);
    expect(jsonOf(await owner.request('GET /api/models')).data[0]).not.toHaveProperty('targets');
  });
});

describe('the playground', () => {
  const path = () => `/api/organizations/${organizationId}/playground`;
  const request = { model: 'acme/m', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 10 };
  const keysOf = async (query = '?kind=playground') =>
    jsonOf(await operator.request(`GET /api/organizations/${organizationId}/keys${query}`)).data as Json[];

  it('creates a short-lived key with a budget, and revokes it when it creates the next one', async () => {
    const created = await owner.request(`POST ${path()}/key`, {});
    expect(created.status).toBe(201);
    const key = jsonOf(created);
    expect(key).toMatchObject({ budget_usd: '1', base_url: 'https://api.example.com/v1' });
    expect(key.secret).toMatch(/^sk-gw-/);
    const [listed] = await keysOf();
    expect(listed).toMatchObject({
      id: key.key_id,
      kind: 'playground',
      name: 'Playground: owner@example.com',
      state: 'active',
      scopes: ['chat', 'usage:read'],
      daily_budget_usd: '1',
    });
    expect(Date.parse(key.expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
    expect(`${listed.expires_on}T23:59:59Z` >= key.expires_at).toBe(true);

    const next = jsonOf(await owner.request(`POST ${path()}/key`, { budget_usd: '0.5' }));
    const states = new Map((await keysOf()).map(({ id, state }) => [id, state]));
    expect([states.get(key.key_id), states.get(next.key_id)]).toEqual(['revoked', 'active']);
    const audit = jsonOf(
      await operator.request(`GET /api/organizations/${organizationId}/audit?action=key.create`),
    );
    expect(audit.data[0]).toMatchObject({ target: next.key_id, actor: { label: 'owner@example.com' } });
  });

  it('its keys are listed only on request', async () => {
    const path = `/api/organizations/${organizationId}`;
    const created = await owner.request(`POST ${path}/keys`, { name: 'production', scopes: ['chat'] });
    const standard = jsonOf(created).key.id as string;
    const { key_id: own } = jsonOf(await owner.request(`POST ${path}/playground/key`, {}));
    const idsOf = async (query: string) => (await keysOf(query)).map(({ id }) => id as string);
    expect(await idsOf('')).toEqual([standard]);
    expect(await idsOf('?kind=standard')).toEqual([standard]);
    expect(await idsOf('?kind=playground')).not.toContain(standard);
    expect((await idsOf('?kind=all&page_size=2')).sort()).toEqual([standard, own].sort());
    expect((await operator.request(`GET ${path}/keys?kind=other`)).error.param).toBe('kind');
  });

  it('rejects a key with too high a budget, or for another organization', async () => {
    expect((await owner.request(`POST ${path()}/key`, { budget_usd: '10.01' })).error).toMatchObject({
      code: 'invalid',
      param: 'budget_usd',
    });
    const foreign = jsonOf(await operator.request('POST /api/organizations', { name: 'Other' })).organization
      .id as string;
    expect((await owner.request(`POST /api/organizations/${foreign}/playground/key`, {})).status).toBe(404);
  });

  it('estimates the maximum cost of a request as the public API does', async () => {
    const response = jsonOf(await owner.request(`POST ${path()}/estimate`, { request }));
    expect(response.max_output_tokens).toBe(10);
    const tokens = Math.ceil((response.estimated_input_tokens * 11) / 10);
    // The model may write the whole prompt to its cache.
    expect(Number(response.max_cost_usd)).toBeCloseTo((tokens * 1.25 + 10 * 4) / 1_000_000, 9);
    expect(response).toMatchObject({ available_usd: '0', affordable: false });
  });

  it('reports field by field what the public API would reject', async () => {
    const refused = await owner.request(`POST ${path()}/estimate`, {
      request: { ...request, max_tokens: 5_000 },
    });
    expect(refused.error).toMatchObject({ code: 'invalid', metadata: { code: 'context_length_exceeded' } });
    const unknown = await owner.request(`POST ${path()}/estimate`, {
      request: { ...request, model: 'acme/off' },
    });
    expect(unknown.error).toMatchObject({ param: 'request.model', metadata: { code: 'model_not_found' } });
  });

  it('accepts larger bodies, to estimate requests with images', async () => {
    const image = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const content = [{ type: 'image_url', image_url: { url: image } }];
    const refused = await owner.request(`POST ${path()}/estimate`, {
      request: { ...request, messages: [{ role: 'user', content }] },
    });
    expect(refused.error.code).not.toBe('body_too_large');
  });
});
