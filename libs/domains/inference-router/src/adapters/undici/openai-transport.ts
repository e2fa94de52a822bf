import { tracing, type Span } from '@gateway/telemetry';
import { Pool } from 'undici';
import type { Provider, Target } from '../../core/catalogue/model-catalogue';
import type { ProviderAnswer, ProviderCall, ProviderTransport } from '../../core/ports';
import { ProviderExchange } from './provider-exchange';

/** How long an idle connection to a provider is kept when the provider names no time, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

interface ProviderPool {
  readonly pool: Pool;
  readonly path: string;
  readonly headers: { readonly whole: Record<string, string>; readonly stream: Record<string, string> };
  /** What the pool was made of; another value needs another pool. */
  readonly madeOf: Provider;
}

/**
 * The OpenAI chat completions protocol over undici: a connection pool per
 * provider, as wide as its bulkhead, so that a call never waits for a
 * connection. Requests are not pipelined: a slow answer would hold up the next.
 * undici's own timeouts are off but for connecting; the core keeps the others.
 */
export function createOpenAiTransport(): ProviderTransport {
  const pools = new Map<string, ProviderPool>();

  function poolOf(provider: Provider): ProviderPool {
    const known = pools.get(provider.name);
    if (known?.madeOf === provider) return known;
    // After a reload of the catalogue the old pool finishes what it carries.
    if (known) void known.pool.close();
    const made = createPool(provider);
    pools.set(provider.name, made);
    return made;
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
    madeOf: provider,
    path: `${url.pathname.replace(/\/+$/, '')}/chat/completions${url.search}`,
    headers: {
      whole: { ...headers, accept: 'application/json' },
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
  { pool, path, headers }: ProviderPool,
  { target, signal, onSent, stream, body }: ProviderCall,
): Promise<ProviderAnswer> {
  const span = startSpan(target);
  const own = headers[stream ? 'stream' : 'whole'];
  const trace = target.provider.sendsTraceparent ? span?.headers : undefined;
  return new ProviderExchange(target.provider.name, signal, onSent, span).send(pool, {
    method: 'POST',
    path,
    headers: trace === undefined ? own : { ...own, ...trace },
    body,
  });
}

/** Undefined unless traces are recorded. */
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
