import type { PendingCall } from './counting-proxy';
import type { ClientOptions } from './client-process';
import { clientModels, SLOW, type ClientTestEnv } from './client-test-env';

export type Scenario =
  | 'idempotency_key_in_flight'
  | 'idempotency_key_reused'
  | 'context_length_exceeded'
  | 'invalid_api_key'
  | 'insufficient_credits'
  | 'missing_scope'
  | 'model_not_found'
  | 'rpm_exceeded'
  | 'tpm_exceeded'
  | 'concurrency'
  | 'daily_budget_exceeded'
  | 'upstream_config_error'
  | 'upstream_error'
  | 'no_capacity';

interface Prepared {
  readonly options: Partial<ClientOptions>;
  /** Awaited when the client's first call has arrived, before it is forwarded. */
  readonly beforeFirst?: (call: PendingCall) => Promise<void>;
  readonly clean?: () => void;
}

/** An error that a client runs into, produced by a real gateway. */
export interface ClientScenario {
  readonly name: Scenario;
  readonly status: number;
  /** The error envelope of every response. */
  readonly envelope: Readonly<Record<string, unknown>>;
  prepare(testEnv: ClientTestEnv, clientName: string): Promise<Prepared>;
}

/** In the last seconds of a minute, a per-minute limit may reset between a call and its retry. */
const END_OF_MINUTE_MS = 4_000;

export const scenarios: readonly ClientScenario[] = [
  // First, because its slow generation finishes while the other scenarios run.
  {
    name: 'idempotency_key_in_flight',
    status: 409,
    envelope: { code: 'idempotency_key_in_flight', type: 'invalid_request_error', metadata: {} },
    prepare: async (testEnv, clientName) => ({
      options: { prompt: SLOW, headers: { 'Idempotency-Key': `in flight ${clientName}` } },
      beforeFirst: testEnv.runDuplicate,
    }),
  },
  {
    name: 'idempotency_key_reused',
    status: 422,
    envelope: {
      code: 'idempotency_key_reused',
      type: 'invalid_request_error',
      param: 'Idempotency-Key',
      metadata: {},
    },
    prepare: async (testEnv, clientName) => {
      const { apiKey } = await testEnv.testEnv.tenant();
      const headers = { 'Idempotency-Key': `reused ${clientName}` };
      await complete(testEnv, apiKey, headers);
      return { options: { apiKey, headers } };
    },
  },
  {
    name: 'context_length_exceeded',
    status: 400,
    envelope: {
      code: 'context_length_exceeded',
      type: 'invalid_request_error',
      param: 'messages',
      metadata: { estimated_tokens: expect.any(Number), limit: 131_072 },
    },
    prepare: async () => ({ options: { prompt: 'hello '.repeat(140_000) } }),
  },
  {
    name: 'invalid_api_key',
    status: 401,
    envelope: { code: 'invalid_api_key', type: 'authentication_error', metadata: {} },
    prepare: async () => ({ options: { apiKey: 'sk-gw-unknown' } }),
  },
  {
    name: 'insufficient_credits',
    status: 402,
    envelope: {
      code: 'insufficient_credits',
      type: 'insufficient_credits',
      metadata: expect.objectContaining({ available: 0.000001, currency: 'USD' }),
    },
    prepare: async ({ testEnv }) => ({
      options: { apiKey: (await testEnv.tenant({ credit: '0.000001' })).apiKey },
    }),
  },
  {
    name: 'missing_scope',
    status: 403,
    envelope: { code: 'missing_scope', type: 'permission_error', metadata: { required_scope: 'chat' } },
    prepare: async ({ testEnv }) => ({
      options: { apiKey: (await testEnv.tenant({ key: { scopes: ['usage:read'] } })).apiKey },
    }),
  },
  {
    name: 'model_not_found',
    status: 404,
    envelope: { code: 'model_not_found', type: 'not_found_error', param: 'model', metadata: {} },
    prepare: async () => ({ options: { model: 'test/unknown' } }),
  },
  {
    name: 'rpm_exceeded',
    status: 429,
    envelope: limited('rpm_exceeded', 'rpm', 1),
    prepare: async (testEnv) => {
      const { apiKey } = await testEnv.testEnv.tenant({ limits: { requests_per_minute: 1 } });
      await avoidEndOfMinute();
      await complete(testEnv, apiKey);
      return { options: { apiKey } };
    },
  },
  {
    name: 'tpm_exceeded',
    status: 429,
    envelope: limited('tpm_exceeded', 'tpm', 10),
    prepare: async (testEnv) => {
      const { apiKey } = await testEnv.testEnv.tenant({ limits: { tokens_per_minute: 10 } });
      await avoidEndOfMinute();
      await complete(testEnv, apiKey);
      return { options: { apiKey } };
    },
  },
  {
    name: 'concurrency',
    status: 429,
    envelope: limited('rpm_exceeded', 'concurrency', 1),
    prepare: async (testEnv) => {
      const { apiKey } = await testEnv.testEnv.tenant({ limits: { concurrency: 1 } });
      return { options: { apiKey }, clean: await testEnv.occupySlot(apiKey) };
    },
  },
  {
    name: 'daily_budget_exceeded',
    status: 429,
    envelope: limited('daily_budget_exceeded', 'daily_budget', 0.000001, {
      held: 0,
      period: 'day',
      resets_at: expect.stringMatching(/T00:00:00\.000Z$/) as unknown,
    }),
    prepare: async ({ testEnv }) => ({
      options: { apiKey: (await testEnv.tenant({ limits: { daily_budget_usd: '0.000001' } })).apiKey },
    }),
  },
  {
    name: 'upstream_config_error',
    status: 500,
    envelope: { code: 'upstream_config_error', type: 'api_error', metadata: {} },
    prepare: async () => ({ options: { model: clientModels.upstreamConfigError } }),
  },
  {
    name: 'upstream_error',
    status: 502,
    envelope: { code: 'upstream_error', type: 'api_error', metadata: {} },
    prepare: async () => ({ options: { model: clientModels.upstreamError } }),
  },
  {
    name: 'no_capacity',
    status: 503,
    envelope: { code: 'no_capacity', type: 'service_unavailable_error', metadata: {} },
    prepare: async () => ({ options: { model: clientModels.noCapacity } }),
  },
];

function limited(code: string, limitType: string, limit: number, more = {}) {
  return {
    code,
    type: 'rate_limit_error',
    metadata: { limit_type: limitType, scope: 'organization', limit, ...more },
  };
}

/** A completion by the test itself, not by the client under test. */
async function complete(testEnv: ClientTestEnv, apiKey: string, headers = {}): Promise<void> {
  const response = await fetch(`${testEnv.testEnv.gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: clientModels.works,
      messages: [{ role: 'user', content: 'Something else' }],
      max_tokens: 50,
    }),
  });
  await response.text();
  expect(response.status).toBe(200);
}

async function avoidEndOfMinute(): Promise<void> {
  const remainingMs = 60_000 - (Date.now() % 60_000);
  if (remainingMs < END_OF_MINUTE_MS) await new Promise((resolve) => setTimeout(resolve, remainingMs + 50));
}
