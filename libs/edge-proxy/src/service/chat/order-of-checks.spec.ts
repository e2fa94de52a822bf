import { type KeyGrant, Scope } from '@gateway/contracts/auth';
import { LimitScope, LimitType } from '@gateway/contracts/rate-limit';
import { GatewayError } from '@gateway/errors';
import { BODY, grant, KEY, model, startEdge, type TestEdge } from '../testing/start-edge';

/**
 * The faults of one request, in the public order of checks. Each row adds its
 * own fault; a request with the faults of a row and of all later rows is
 * answered with the error of that row.
 */
interface Faulty {
  path: string;
  key: string;
  grant: Partial<KeyGrant>;
  /** Sent as it is when it is a string. */
  body: Record<string, unknown> | string;
  headers: Record<string, string>;
}

const OTHER_LIMITS = { ...grant().organizationLimits, maxOutputTokens: 50 } as KeyGrant['organizationLimits'];
const long = 'x'.repeat(80_000);

/** A PNG of one pixel. */
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const ROWS: readonly [code: string, addFault: (request: Faulty, edge: TestEdge) => void][] = [
  ['route_not_found', (request) => (request.path = '/v1/chat/completions/')],
  ['invalid_api_key', (request) => (request.key = 'sk-gw-unknown')],
  ['key_revoked', (request) => (request.grant.revoked = true)],
  ['key_expired', (request) => (request.grant.expiresOn = '2020-01-01')],
  ['ip_not_allowed', (request) => (request.grant.ipAllowlist = ['10.0.0.1'])],
  ['org_suspended', (request) => (request.grant.organizationSuspended = true)],
  ['missing_scope', (request) => (request.grant.scopes = [Scope.SCOPE_USAGE_READ])],
  ['request_too_large', (request) => (request.body = `{${' '.repeat(200_000)}`)],
  ['invalid_json', (request) => (request.body = '{')],
  ['missing_model', (request) => set(request, { model: undefined })],
  ['missing_messages', (request) => set(request, { messages: undefined })],
  ['unknown_parameter', (request) => set(request, { foo: 1 })],
  ['invalid_request', (request) => set(request, { temperature: 'hot' })],
  [
    'image_url_not_supported',
    (request) =>
      set(request, {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
        ],
      }),
  ],
  [
    'json_mode_no_stream',
    (request) => set(request, { response_format: { type: 'json_object' }, stream: true }),
  ],
  ['n_not_allowed', (request) => set(request, { n: 2 })],
  ['max_tokens_exceeds_cap', (request) => (request.grant.organizationLimits = OTHER_LIMITS)],
  ['model_not_found', (request) => set(request, { model: 'acme/none' })],
  ['model_not_allowed', (request) => (request.grant.allowedModels = ['acme/m-2'])],
  [
    'tools_not_supported',
    (request) => set(request, { tools: [{ type: 'function', function: { name: 'f' } }] }),
  ],
  [
    'vision_not_available',
    (request) =>
      set(request, {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PIXEL } }] }],
      }),
  ],
  ['json_mode_not_supported', (request) => set(request, { response_format: { type: 'json_object' } })],
  ['reasoning_effort_not_supported', (request) => set(request, { reasoning_effort: 'high' })],
  ['context_length_exceeded', (request) => set(request, { messages: [{ role: 'user', content: long }] })],
  ['invalid_request', (request) => (request.headers['idempotency-key'] = 'ü')],
  [
    'rpm_exceeded',
    (_request, edge) => {
      const scope = LimitScope.LIMIT_SCOPE_KEY;
      edge.limiter.refuse = { limitType: LimitType.LIMIT_TYPE_REQUESTS, scope, limit: 1, retryAfterMs: 1 };
    },
  ],
  [
    'insufficient_credits',
    (_request, edge) => {
      const value = { availableNanoUsd: 0n, estimatedCostNanoUsd: 1n };
      edge.ledger.refuse = { $case: 'insufficientCredits', value };
    },
  ],
  [
    'upstream_error',
    (_request, edge) =>
      edge.faults.at('router.generate', () => {
        throw new GatewayError('upstream_error');
      }),
  ],
];

/** A later fault of the body does not undo an earlier one: it fills in what is not set yet. */
function set(request: Faulty, fields: Record<string, unknown>): void {
  if (typeof request.body !== 'string') Object.assign(request.body, fields);
}

test.each(ROWS.map(([code], index) => [index, code] as const))(
  'row %d: %s comes before all later faults',
  async (index, code) => {
    const edge = await startEdge({
      models: [model({ capabilities: [] }), model({ id: 'acme/m-2' })],
      settings: { maxBodyBytes: 100_000 },
    });
    const request: Faulty = {
      path: '/v1/chat/completions',
      key: KEY,
      grant: {},
      body: { ...BODY },
      headers: {},
    };
    // From the last to the first, so that an earlier fault wins where two touch the same field.
    for (const [, addFault] of ROWS.slice(index).reverse()) addFault(request, edge);
    edge.keys.set(KEY, grant(request.grant));
    const response = await fetch(`${edge.url}${request.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${request.key}`, ...request.headers },
      body: typeof request.body === 'string' ? request.body : JSON.stringify(request.body),
    });
    expect(((await response.json()) as { error: { code: string } }).error.code).toBe(code);
    expect(edge.limiter.outstanding.size + edge.ledger.held.size + edge.ledger.claims.size).toBe(0);
    await edge.stop();
  },
);
