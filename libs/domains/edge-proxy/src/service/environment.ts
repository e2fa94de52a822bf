import { httpServerEnvironment, tlsFilesOf } from '@gateway/http-server';
import { inferenceApis } from '@gateway/public-api';
import { flagSetting, listSetting, millisecondsSetting, namesSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';
import { defaultEdgeProxySettings as defaults, type EdgeProxySettings } from './settings';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
/** Claims are renewed about once a second; a lease must outlast a missed renewal. */
const MIN_CLAIM_LEASE_MS = 3_000;
/** The longest lease that the billing-ledger grants. */
const MAX_CLAIM_LEASE_MS = 3_600_000;
/** Well below the timeouts of clients and proxies. */
const MAX_HOLD_WAIT_MS = 30_000;
const MIN_ELASTIC_HOLD_TOKENS = 64;
const MAX_ELASTIC_HOLD_TOKENS = 65_536;

const bytes = z.coerce.number().int();
/** 0 means no limit. */
const perMinute = z.coerce.number().int().min(0).max(1_000_000_000);

/** Settings of each app that runs this module. */
export const edgeProxyEnvironment = {
  ...httpServerEnvironment,
  GATEWAY_PORT: portSetting.default(defaults.port).describe('Port of the public API. 0 picks a free port.'),
  GATEWAY_CORS_ORIGINS: listSetting
    .default([])
    .refine((origins) => origins.every((origin) => origin === '*' || isOrigin(origin)), {
      error:
        'must be "*", or origins such as "https://app.example.com", without a path and separated by commas',
    })
    .describe(
      'Origins, separated by commas, whose pages may call the public API from a browser, or `*` for all. Default: CORS is off. Anyone who can open such a page can read the key in it.',
    ),
  GATEWAY_ENDPOINTS: namesSetting(inferenceApis)
    .default([...defaults.endpoints])
    .describe(
      'Inference endpoints, separated by commas: `chat` (`/v1/chat/completions`) is always served, `messages` adds `/v1/messages` and `/v1/messages/count_tokens`, which Claude Code and the SDKs of Anthropic call, `responses` adds `/v1/responses`, which Codex and the AI SDK call, and `embeddings` adds `/v1/embeddings`, for embedding models.',
    ),
  GATEWAY_DROP_HOSTED_TOOLS: flagSetting
    .default(defaults.dropsHostedTools)
    .describe(
      'Whether hosted tools such as web search, which the gateway does not have, are removed from requests to `/v1/messages` and `/v1/responses` instead of refused. Codex lists web search by default.',
    ),
  GATEWAY_MAX_BODY_BYTES: bytes
    .min(KIB)
    .max(256 * MIB)
    .default(defaults.maxBodyBytes)
    .describe('Largest request body, in bytes after decompression; larger ones get 413.'),
  GATEWAY_MAX_INFLIGHT_BODY_BYTES: bytes
    .min(MIB)
    .max(64 * GIB)
    .default(defaults.maxInflightBodyBytes)
    .describe(
      'Memory for the bodies of all requests in flight, in bytes, per process. Organizations share it fairly. A request that does not fit gets 503 `no_capacity`.',
    ),
  GATEWAY_MAX_FAILED_AUTHENTICATIONS_PER_MINUTE: perMinute
    .default(defaults.maxFailedAuthenticationsPerMinute)
    .describe(
      'Failed authentications per client address and minute before the abuse limit applies. 0 turns the limit off. Behind a proxy, set `GATEWAY_TRUSTED_PROXIES` too.',
    ),
  GATEWAY_MAX_INVALID_REQUESTS_PER_MINUTE: perMinute
    .default(defaults.maxInvalidRequestsPerMinute)
    .describe(
      "Invalid chat completions per key and minute before the abuse limit applies; never less than 20 times the key's requests per minute. Cancelled ones and those with more input than can be counted have the same limit, or half of the key's requests per minute. 0 turns the limit off.",
    ),
  GATEWAY_BODY_TIMEOUT_MS: millisecondsSetting
    .default(defaults.bodyTimeoutMs)
    .describe('Time within which a request body has to arrive, in milliseconds; then 408.'),
  GATEWAY_KEEP_ALIVE_COMMENT_MS: millisecondsSetting
    .default(defaults.keepAliveCommentMs)
    .describe(
      'Silence in a stream, in milliseconds, after which a comment is sent so that proxies keep the connection open. Set it below the idle timeout of your load balancer.',
    ),
  GATEWAY_FIRST_COMMENT_MS: millisecondsSetting
    .default(defaults.firstCommentMs)
    .describe(
      'The same before the first event of a stream. Until the first comment a failure has its own status, after it the stream ends with an error chunk.',
    ),
  GATEWAY_GENERATION_TIMEOUT_MS: millisecondsSetting
    .default(defaults.generationTimeoutMs)
    .describe('Longest generation, in milliseconds, retries included.'),
  GATEWAY_HOLD_MARGIN_MS: millisecondsSetting
    .default(defaults.holdMarginMs)
    .describe(
      'Milliseconds after the longest possible generation at which a hold is voided if its settlement never arrived, as after a crash.',
    ),
  GATEWAY_HOLD_WAIT_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_HOLD_WAIT_MS)
    .default(defaults.holdWaitMs)
    .describe(
      'Longest wait, in milliseconds, of a request that only the holds of running requests keep from fitting the balance or a daily budget; then it is refused. At most 30 seconds; 0 refuses at once.',
    ),
  GATEWAY_ELASTIC_HOLD_TOKENS: z.coerce
    .number()
    .int()
    .min(MIN_ELASTIC_HOLD_TOKENS)
    .max(MAX_ELASTIC_HOLD_TOKENS)
    .default(defaults.elasticHoldTokens)
    .describe(
      'Output tokens that a stream holds first, and with each extension, in organizations with elastic holds; 64 to 65536. Most responses fit one slice of 1024 tokens, which takes several seconds to generate: far longer than an extension takes.',
    ),
  GATEWAY_IDEMPOTENCY_LEASE_MS: millisecondsSetting
    .min(MIN_CLAIM_LEASE_MS)
    .max(MAX_CLAIM_LEASE_MS)
    .default(defaults.claimLeaseMs)
    .describe(
      'Milliseconds for which an `Idempotency-Key` stays in flight (409) after the edge that served it crashed; 3 seconds to 1 hour.',
    ),
};

export type EdgeProxyEnvironment = z.output<z.ZodObject<typeof edgeProxyEnvironment>>;

export function edgeProxySettingsOf(values: EdgeProxyEnvironment): Partial<EdgeProxySettings> {
  return {
    port: values.GATEWAY_PORT,
    tls: tlsFilesOf(values),
    trustedProxies: values.GATEWAY_TRUSTED_PROXIES,
    corsOrigins: values.GATEWAY_CORS_ORIGINS,
    endpoints: values.GATEWAY_ENDPOINTS,
    dropsHostedTools: values.GATEWAY_DROP_HOSTED_TOOLS,
    maxBodyBytes: values.GATEWAY_MAX_BODY_BYTES,
    maxInflightBodyBytes: values.GATEWAY_MAX_INFLIGHT_BODY_BYTES,
    maxFailedAuthenticationsPerMinute: values.GATEWAY_MAX_FAILED_AUTHENTICATIONS_PER_MINUTE,
    maxInvalidRequestsPerMinute: values.GATEWAY_MAX_INVALID_REQUESTS_PER_MINUTE,
    bodyTimeoutMs: values.GATEWAY_BODY_TIMEOUT_MS,
    keepAliveCommentMs: values.GATEWAY_KEEP_ALIVE_COMMENT_MS,
    firstCommentMs: values.GATEWAY_FIRST_COMMENT_MS,
    generationTimeoutMs: values.GATEWAY_GENERATION_TIMEOUT_MS,
    holdMarginMs: values.GATEWAY_HOLD_MARGIN_MS,
    holdWaitMs: values.GATEWAY_HOLD_WAIT_MS,
    elasticHoldTokens: values.GATEWAY_ELASTIC_HOLD_TOKENS,
    claimLeaseMs: values.GATEWAY_IDEMPOTENCY_LEASE_MS,
  };
}

/** In the form that browsers send: lower case, without a path or the scheme's default port. No patterns. */
function isOrigin(text: string): boolean {
  return /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
