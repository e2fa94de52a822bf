import { msLeftInMinute, nanoUsd } from '@gateway/base';
import {
  type ErrorCode,
  errorEnvelope,
  GatewayError,
  isRefusal,
  type Refusal,
  refusalError,
} from '@gateway/errors';
import {
  addressAbuseLimited,
  addRetryHeaders,
  type ResponseHeaders,
  bodyTooLarge,
  type CallerPolicy,
  checkKeyGrant,
  budgetExceeded,
  defaultPublicLimits,
  generationNotFound,
  idempotencyKeyInFlight,
  idempotencyKeyReused,
  insufficientCredits,
  type JsonObject,
  type KeyGrantView,
  type KeyScope,
  limitExceeded,
  lowerToMaxCost,
  maxCostExceeded,
  chatCompletionError,
  parseJsonBody,
  parseUsageQuery,
  routeNotFound,
} from '@gateway/public-api';
import type { ErrorExample, RequestExample } from '../openapi/examples';
import { cents, CHAT_REQUEST, judged, NOW, PLAIN } from './example-data';

const CHAT = { method: 'POST', path: '/v1/chat/completions' };
const HALF_A_BODY = '{"model": "acme/m-1",';
const SMALL_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** At least one example per code, each the result of the gateway's own rules for its request. */
export function errorExamples(): readonly ErrorExample[] {
  return [
    ...ofPaths(),
    ...ofKeys(),
    ...ofBodies(),
    ...ofIdempotency(),
    ...ofLimits(),
    ...ofMoney(),
    ...ofQueries(),
    ...ofService(),
  ];
}

function ofBodies(): ErrorExample[] {
  return [
    example('request_too_large', 'A body of 40 MiB.', bodyTooLarge(defaultPublicLimits.maxBodyBytes), CHAT),
    example('invalid_json', 'A truncated body.', parseJsonBody(Buffer.from(HALF_A_BODY)), {
      ...CHAT,
      body: HALF_A_BODY,
    }),
    ofBody('missing_model', 'No `model`.', { model: null }),
    ofBody('missing_messages', 'An empty conversation.', { messages: [] }),
    ofBody('unknown_parameter', 'An unknown field.', { foo: 1 }),
    ofBody('invalid_request', 'A value out of its range.', { temperature: 3 }),
    ofBody('image_url_not_supported', 'An image as a link.', withImage('https://example.com/image.png')),
    ofBody('json_mode_no_stream', 'A JSON response format with `stream`.', {
      response_format: { type: 'json_object' },
      stream: true,
    }),
    ofBody('n_not_allowed', 'Two completions per request.', { n: 2 }),
    ofBody(
      'max_tokens_exceeds_cap',
      'An organization with a cap of 4096 tokens.',
      { max_tokens: 8_000 },
      { maxOutputTokensCap: 4_096 },
    ),
    ofBody('model_not_found', 'A model that does not exist.', { model: 'acme/m-0' }),
    ofBody('model_not_allowed', 'A key that may use another model only.', {}, { allowedModels: [PLAIN] }),
    ofBody('tools_not_supported', 'Tools for a model that cannot call any.', {
      model: PLAIN,
      tools: [{ type: 'function', function: { name: 'get_weather' } }],
    }),
    ofBody('vision_not_available', 'An image for a model that cannot read any.', {
      model: PLAIN,
      ...withImage(SMALL_IMAGE),
    }),
    ofBody('json_mode_not_supported', 'JSON from a model that cannot enforce it.', {
      model: PLAIN,
      response_format: { type: 'json_object' },
    }),
    ofBody('reasoning_effort_not_supported', 'A level that the model does not have.', {
      reasoning_effort: 'enormous',
    }),
    ofLongConversation(),
  ];
}

function withImage(url: string): JsonObject {
  return {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  };
}

function ofLongConversation(): ErrorExample {
  const words = 'word '.repeat(150_000);
  const judgement = judged({ ...CHAT_REQUEST, messages: [{ role: 'user', content: words }] });
  return example('context_length_exceeded', 'A conversation of 150,000 words.', judgement, CHAT);
}

function ofKeys(): ErrorExample[] {
  const models = { method: 'GET', path: '/v1/models' };
  return [
    example('invalid_api_key', 'A key that does not exist.', new GatewayError('invalid_api_key'), {
      ...models,
      headers: { authorization: 'Bearer sk-gw-unknown' },
    }),
    example('key_revoked', 'A key that was revoked.', ofKey({ revoked: true }), models),
    example('key_expired', 'A key that worked until yesterday.', ofKey({ expiresOn: '2026-11-19' }), models),
    example(
      'ip_not_allowed',
      'A key with an allowlist, from elsewhere.',
      ofKey({ ipAllowlist: ['192.0.2.0/24'] }),
      models,
    ),
    example('org_suspended', 'A suspended organization.', ofKey({ organizationSuspended: true }), models),
    example('missing_scope', 'A key for chat only.', ofKey({ scopes: ['chat'] }, 'usage:read'), {
      method: 'GET',
      path: '/v1/credits',
    }),
  ];
}

function ofKey(changes: Partial<KeyGrantView>, scope?: KeyScope): Refusal | undefined {
  const grant: KeyGrantView = {
    revoked: false,
    scopes: ['chat', 'usage:read'],
    ipAllowlist: [],
    organizationSuspended: false,
    ...changes,
  };
  return checkKeyGrant(grant, { address: '198.51.100.7', now: NOW, scope, isAddressAllowed: () => false });
}

function ofIdempotency(): ErrorExample[] {
  const request = { ...CHAT, headers: { 'idempotency-key': 'order-4711' }, body: CHAT_REQUEST };
  return [
    example('idempotency_key_in_flight', 'The first attempt still runs.', idempotencyKeyInFlight(), request),
    example('idempotency_key_reused', 'Another body than the first time.', idempotencyKeyReused(), request),
  ];
}

function ofLimits(): ErrorExample[] {
  const minute = { retryAfterMs: msLeftInMinute(NOW) };
  return [
    example(
      'rpm_exceeded',
      'Requests per minute of the organization.',
      limitExceeded({
        limitType: 'requests',
        scope: 'organization',
        limit: 600,
        ...minute,
      }),
      CHAT,
    ),
    {
      ...example(
        'rpm_exceeded',
        'Concurrent requests of the key.',
        limitExceeded({
          limitType: 'concurrency',
          scope: 'key',
          limit: 8,
          retryAfterMs: 1_000,
        }),
        CHAT,
      ),
      name: 'rpm_exceeded.concurrency',
    },
    {
      ...example(
        'rpm_exceeded',
        'The abuse limit: too many unknown keys from one address.',
        addressAbuseLimited(defaultPublicLimits.maxFailedAuthenticationsPerMinute, minute.retryAfterMs),
        {
          method: 'GET',
          path: '/v1/models',
          headers: { authorization: 'Bearer sk-gw-unknown' },
        },
      ),
      name: 'rpm_exceeded.abuse_limit',
    },
    example(
      'tpm_exceeded',
      'Tokens per minute of the key.',
      limitExceeded({
        limitType: 'tokens',
        scope: 'key',
        limit: 100_000,
        ...minute,
      }),
      CHAT,
    ),
  ];
}

function ofMoney(): ErrorExample[] {
  const body = { ...CHAT_REQUEST, max_tokens: 16_000 };
  const chat = judged(body);
  if (isRefusal(chat)) throw new Error('the example of an expensive request is refused for another reason');
  const estimatedCostNanoUsd = chat.heldCostNanoUsd;
  const amounts = { limitNanoUsd: cents(500), usedNanoUsd: cents(490), heldNanoUsd: cents(0) };
  const exceeded = { ...amounts, estimatedCostNanoUsd };
  return [
    example(
      'insufficient_credits',
      'An available balance of $0.12.',
      insufficientCredits({ availableNanoUsd: cents(12), heldNanoUsd: cents(0), estimatedCostNanoUsd }, chat),
      { ...CHAT, body },
    ),
    {
      ...example(
        'insufficient_credits',
        'An available balance of $0.12, and $1 that running requests reserve.',
        insufficientCredits(
          { availableNanoUsd: cents(12), heldNanoUsd: cents(100), estimatedCostNanoUsd },
          chat,
        ),
        { ...CHAT, body },
      ),
      name: 'insufficient_credits.held',
    },
    {
      ...example(
        'insufficient_credits',
        'A budget of the run of $2, with $1.90 used.',
        budgetExceeded(
          {
            scope: 'run',
            period: 'total',
            limitNanoUsd: cents(200),
            usedNanoUsd: cents(190),
            heldNanoUsd: cents(0),
            estimatedCostNanoUsd,
          },
          chat,
          NOW,
        ),
        { ...CHAT, body },
      ),
      name: 'insufficient_credits.run',
    },
    {
      ...example(
        'insufficient_credits',
        'A weekly budget of the key of $5, with $4.90 used.',
        budgetExceeded(
          {
            scope: 'key',
            period: 'week',
            ...exceeded,
          },
          chat,
          NOW,
        ),
        { ...CHAT, body },
      ),
      name: 'insufficient_credits.weekly',
    },
    {
      ...example(
        'insufficient_credits',
        'An `x-max-cost-usd` below the cost of the input.',
        maxCostExceeded(nanoUsd(1_000n), lowerToMaxCost(chat, nanoUsd(1_000n))),
        { ...CHAT, body },
      ),
      name: 'insufficient_credits.request',
    },
    example(
      'daily_budget_exceeded',
      'A daily budget of $5, with $4.90 used.',
      budgetExceeded(
        {
          scope: 'key',
          period: 'day',
          ...exceeded,
        },
        chat,
        NOW,
      ),
      { ...CHAT, body },
    ),
    {
      ...example(
        'daily_budget_exceeded',
        'A daily budget of $5, with $4.90 used, $1 of it by running requests.',
        budgetExceeded(
          {
            scope: 'key',
            period: 'day',
            ...exceeded,
            heldNanoUsd: cents(100),
          },
          chat,
          NOW,
        ),
        { ...CHAT, body },
      ),
      name: 'daily_budget_exceeded.held',
    },
  ];
}

function ofPaths(): ErrorExample[] {
  return [
    example('route_not_found', 'A base URL without `/v1`.', routeNotFound('/chat/completions'), {
      method: 'POST',
      path: '/chat/completions',
    }),
  ];
}

function ofQueries(): ErrorExample[] {
  return [
    example('generation_not_found', 'An ID that is not settled yet.', generationNotFound(), {
      method: 'GET',
      path: '/v1/generation?id=gen-01KAGD1R2M6QW8ZJ4T0V5XN3YC',
    }),
    {
      ...example(
        'invalid_request',
        'More than 90 days of usage.',
        parseUsageQuery({ start_date: '2026-01-01' }, NOW),
        { method: 'GET', path: '/v1/usage?start_date=2026-01-01' },
      ),
      name: 'invalid_request.usage',
    },
  ];
}

/** Errors whose text comes from the error table. */
function ofService(): ErrorExample[] {
  const causes = [
    ['request_timeout', 'The model takes too long.'],
    ['upstream_error', 'The provider fails repeatedly.'],
    ['upstream_config_error', "The provider rejects the gateway's API key."],
    ['no_capacity', 'All providers of the model are busy.'],
    ['internal_error', 'An error of the gateway.'],
  ] as const;
  return causes.map(([code, summary]) =>
    example(code, summary, chatCompletionError(new GatewayError(code)), CHAT),
  );
}

function ofBody(
  code: ErrorCode,
  summary: string,
  changes: JsonObject,
  policy: Partial<CallerPolicy> = {},
): ErrorExample {
  const entries = Object.entries({ ...CHAT_REQUEST, ...changes }).filter(([, value]) => value !== null);
  const body: JsonObject = Object.fromEntries(entries);
  return example(code, summary, judged(body, policy), { ...CHAT, body });
}

function example(
  code: ErrorCode,
  summary: string,
  found: GatewayError | Refusal | object | undefined,
  request?: RequestExample,
): ErrorExample {
  const error = found instanceof GatewayError ? found : isRefusal(found) ? refusalError(found) : undefined;
  if (error?.code !== code) {
    throw new Error(`the example of ${code} gives ${error?.code ?? 'no error'}`);
  }
  const headers: ResponseHeaders = {};
  addRetryHeaders(headers, error);
  return {
    name: code,
    code,
    summary,
    ...(request === undefined ? {} : { request }),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body: errorEnvelope(error),
  };
}
