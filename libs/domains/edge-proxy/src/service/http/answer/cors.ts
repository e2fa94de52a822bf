import type { IncomingMessage } from 'node:http';
import { type AnswerHeaders, endpoints } from '@gateway/public-api';

/** What pages of other origins may do. */
export interface Cors {
  /** What an answer to this request says of it; nothing while CORS is off. */
  headersFor(request: IncomingMessage): AnswerHeaders | undefined;
  /** The answer to a browser that asks first; undefined when this is no such question, or none of an endpoint. */
  preflight(request: IncomingMessage, path: string): AnswerHeaders | undefined;
}

/** How long a browser may remember the answer: the longest that the common ones take. */
const MAX_AGE_S = 7_200;

const ALLOWED_HEADERS = ['authorization', 'content-type', 'idempotency-key', 'traceparent', 'tracestate'];

/** What SDKs send of themselves, such as x-stainless-retry-count. */
const OF_SDKS = /^(?:x-stainless-[a-z0-9-]{1,64}|user-agent|openai-[a-z-]{1,64}|http-referer|x-title)$/;

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

const METHODS: ReadonlyMap<string, string> = new Map(endpoints.map(({ path, method }) => [path, method]));

/**
 * Cross-origin requests of browsers. A key in a page can be read by whoever
 * sees the page, so it is off unless an operator names origins. Credentials of
 * the browser itself, cookies for example, are never allowed: none are read.
 *
 * @param origins - such as "https://app.example.com"; "*" for all; empty: off.
 * @param isOwnPage - whether it is the dashboard's, which may be at a port that was picked when it started.
 */
export function createCors(origins: readonly string[], isOwnPage?: (origin: string) => boolean): Cors {
  const isForAll = origins.includes('*');
  const allowed: ReadonlySet<string> = new Set(origins);
  const isOff = origins.length === 0 && isOwnPage === undefined;
  const isAllowed = (origin: string) => isForAll || allowed.has(origin) || (isOwnPage?.(origin) ?? false);

  function headersFor({ headers }: IncomingMessage): AnswerHeaders | undefined {
    if (isOff) return undefined;
    const { origin } = headers;
    // A cache must not give one origin what another was answered, nor what was answered without one.
    const answer: AnswerHeaders = { vary: 'origin' };
    if (origin === undefined || !isAllowed(origin)) return answer;
    answer['access-control-allow-origin'] = isForAll ? '*' : origin;
    answer['access-control-expose-headers'] = EXPOSED_HEADERS;
    return answer;
  }

  function preflight(request: IncomingMessage, path: string): AnswerHeaders | undefined {
    const { method, headers } = request;
    const endpointMethod = METHODS.get(path);
    const isQuestion =
      method === 'OPTIONS' &&
      headers.origin !== undefined &&
      headers['access-control-request-method'] !== undefined;
    if (isOff || !isQuestion || endpointMethod === undefined) return undefined;
    const answer = headersFor(request) ?? {};
    answer['vary'] = 'origin, access-control-request-method, access-control-request-headers';
    if (answer['access-control-allow-origin'] === undefined) return answer;
    delete answer['access-control-expose-headers'];
    answer['access-control-allow-methods'] = endpointMethod === 'GET' ? 'GET, HEAD' : endpointMethod;
    answer['access-control-allow-headers'] = allowedHeaders(headers['access-control-request-headers']);
    answer['access-control-max-age'] = MAX_AGE_S;
    return answer;
  }

  return { headersFor, preflight };
}

/** Ours, and what of an SDK's own was asked for: no wildcard covers a name that the client makes up. */
function allowedHeaders(asked: string | undefined): string {
  const names = (asked ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return [...new Set([...ALLOWED_HEADERS, ...names.filter((name) => OF_SDKS.test(name))])].join(', ');
}
