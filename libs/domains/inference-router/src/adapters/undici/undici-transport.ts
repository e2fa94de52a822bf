import { tracing, type Span } from '@gateway/telemetry';
import { Pool } from 'undici';
import type { Provider, Target } from '../../core/catalogue/model-catalogue';
import type { ProviderResponse, ProviderCall, ProviderTransport } from '../../core/ports';
import { ProviderExchange } from './provider-exchange';

/** Keep-alive of an idle connection when the provider sends no `keep-alive` header, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

interface ProviderPool {
  readonly pool: Pool;
  /** The path and the query of its address. */
  readonly path: string;
  readonly query: string;
  readonly headers: { readonly json: Record<string, string>; readonly stream: Record<string, string> };
  /** A catalogue reload creates new provider objects, and with them new pools. */
  readonly createdFor: Provider;
}

/**
 * Calls to providers over undici. Each provider has a connection pool as large as its bulkhead, so a call never waits
 * for a connection. Requests are not pipelined: a slow response would block the next. Except for the connect timeout,
 * undici's timeouts are off; the core sets the others.
 */
export function createUndiciTransport(): ProviderTransport {
  const pools = new Map<string, ProviderPool>();

  function poolOf(provider: Provider): ProviderPool {
    const known = pools.get(provider.name);
    if (known?.createdFor === provider) return known;
    // After a catalogue reload, the old pool completes its requests and closes.
    if (known) void known.pool.close();
    const pool = createPool(provider);
    pools.set(provider.name, pool);
    return pool;
  }

  return {
    send: (call) => send(poolOf(call.target.provider), call),
    async close() {
      const closing = [...pools.values()].map(({ pool }) => pool.destroy());
      pools.clear();
      await Promise.all(closing);
    },
  };
}

function createPool(provider: Provider): ProviderPool {
  const url = new URL(provider.baseUrl);
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'inference-gateway',
    ...(provider.apiKey === undefined ? {} : { authorization: `Bearer ${provider.apiKey}` }),
    ...provider.headers,
  };
  return {
    createdFor: provider,
    path: url.pathname.replace(/\/+$/, ''),
    query: url.search.slice(1),
    headers: {
      json: { ...headers, accept: 'application/json' },
      stream: { ...headers, accept: 'text/event-stream' },
    },
    pool: new Pool(url.origin, {
      connections: provider.maxConcurrent,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: provider.timeouts.connectMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
  };
}

function send(
  { pool, path, query, headers }: ProviderPool,
  { target, path: dialectPath, signal, onSent, stream, body }: ProviderCall,
): Promise<ProviderResponse> {
  const span = startSpan(target);
  const base = headers[stream ? 'stream' : 'json'];
  const trace = target.provider.sendsTraceparent ? span?.headers : undefined;
  return new ProviderExchange(target.provider.name, signal, onSent, span).send(pool, {
    method: 'POST',
    path: withQuery(path + dialectPath, query),
    headers: trace === undefined ? base : { ...base, ...trace },
    body,
  });
}

function withQuery(path: string, query: string): string {
  if (query === '') return path;
  return path + (path.includes('?') ? '&' : '?') + query;
}

/** Undefined when the current request is not traced. */
function startSpan({ provider, providerModel }: Target): Span | undefined {
  const tracer = tracing();
  if (tracer?.current() === undefined) return undefined;
  return tracer.start('chat', {
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider.name,
      'gen_ai.request.model': providerModel,
      'http.request.method': 'POST',
      'server.address': new URL(provider.baseUrl).host,
    },
  });
}
