import type { IncomingMessage } from 'node:http';
import { type Endpoint, type ResponseHeaders, SPEND_LIMIT_HEADERS } from '@gateway/public-api';

/** Cross-origin access of browsers. */
export interface Cors {
  /** The CORS headers of a response; undefined while CORS is off. */
  headersFor(request: IncomingMessage): ResponseHeaders | undefined;
  /** The headers of a preflight response; undefined unless the origin is allowed and the path is an endpoint. */
  preflight(request: IncomingMessage, path: string): ResponseHeaders | undefined;
}

/** How long a browser may cache a preflight: the maximum of Chromium. */
const MAX_AGE_S = 7_200;

const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'last-event-id',
  ...SPEND_LIMIT_HEADERS,
  'traceparent',
  'tracestate',
];

/** Headers that SDKs add, such as x-stainless-retry-count. */
const SDK_HEADERS =
  /^(?:x-stainless-[a-z0-9-]{1,64}|user-agent|openai-[a-z-]{1,64}|anthropic-[a-z-]{1,64}|http-referer|x-title)$/;

const EXPOSED_HEADERS = [
  'x-request-id',
  'x-generation-id',
  'openai-processing-ms',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'idempotent-replayed',
].join(', ');

/**
 * Off unless an operator names origins, since every visitor of a page can read
 * the key in it. Browser credentials such as cookies are never allowed; none are
 * read.
 *
 * @param endpoints - of the deployment.
 * @param origins - such as "https://app.example.com"; "*" for all; empty: off.
 * @param isOwnPage - whether the origin is the dashboard's, whose port may be chosen at its start.
 */
export function createCors(
  endpoints: readonly Endpoint[],
  origins: readonly string[],
  isOwnPage?: (origin: string) => boolean,
): Cors {
  const methods = new Map(endpoints.map(({ path, method }) => [path, method]));
  const isForAll = origins.includes('*');
  const allowed: ReadonlySet<string> = new Set(origins);
  const isOff = origins.length === 0 && isOwnPage === undefined;
  const isAllowed = (origin: string) => isForAll || allowed.has(origin) || (isOwnPage?.(origin) ?? false);

  function headersFor({ headers }: IncomingMessage): ResponseHeaders | undefined {
    if (isOff) return undefined;
    const { origin } = headers;
    // The response differs by origin, so caches must not share it.
    const corsHeaders: ResponseHeaders = { vary: 'origin' };
    if (origin === undefined || !isAllowed(origin)) return corsHeaders;
    corsHeaders['access-control-allow-origin'] = isForAll ? '*' : origin;
    corsHeaders['access-control-expose-headers'] = EXPOSED_HEADERS;
    return corsHeaders;
  }

  function preflight(request: IncomingMessage, path: string): ResponseHeaders | undefined {
    const { method, headers } = request;
    const endpointMethod = methods.get(path);
    const isPreflight =
      method === 'OPTIONS' &&
      headers.origin !== undefined &&
      headers['access-control-request-method'] !== undefined;
    if (!isPreflight || endpointMethod === undefined) return undefined;
    const corsHeaders = headersFor(request);
    if (corsHeaders?.['access-control-allow-origin'] === undefined) return undefined;
    corsHeaders['vary'] = 'origin, access-control-request-method, access-control-request-headers';
    delete corsHeaders['access-control-expose-headers'];
    corsHeaders['access-control-allow-methods'] = endpointMethod === 'GET' ? 'GET, HEAD' : endpointMethod;
    corsHeaders['access-control-allow-headers'] = allowedHeaders(headers['access-control-request-headers']);
    corsHeaders['access-control-max-age'] = MAX_AGE_S;
    return corsHeaders;
  }

  return { headersFor, preflight };
}

/** Our headers and the requested headers of SDKs. No wildcard: other names stay forbidden. */
function allowedHeaders(requested: string | undefined): string {
  const names = (requested ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return [...new Set([...ALLOWED_HEADERS, ...names.filter((name) => SDK_HEADERS.test(name))])].join(', ');
}
