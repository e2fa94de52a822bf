import { Readable } from 'node:stream';
import { tracing, type Span } from '@gateway/telemetry';
import { Pool } from 'undici';
import type { Provider, Target } from '../../core/catalogue/model-catalogue';
import type { Credential } from '../../core/credential';
import type { ProviderResponse, ProviderCall, ProviderTransport } from '../../core/ports';
import { ProviderExchange } from './provider-exchange';
import { requestHead, type RequestHead } from './request-head';

/** Keep-alive of an idle connection when the provider sends no `keep-alive` header, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

/** A request of this size or more is not kept in memory once it is sent. The stream for that takes 5 µs of CPU. */
const LARGE_BODY_BYTES = 16 * 1024;

interface ProviderPool {
  readonly pool: Pool;
  readonly head: RequestHead;
  /** Undefined when the head authorizes every call. */
  readonly credential: Credential | undefined;
  /** A catalogue reload creates new provider objects, and with them new pools. */
  readonly createdFor: Provider;
}

export interface UndiciTransportOptions {
  /** @returns undefined for a credential that is the same headers in every call. */
  readonly openCredential: (provider: Provider) => Credential | undefined;
}

/**
 * Calls to providers over undici. Each provider has a connection pool as large as its bulkhead, so a call never waits
 * for a connection. Requests are not pipelined: a slow response would block the next. Except for the connect timeout,
 * undici's timeouts are off; the core sets the others.
 */
export function createUndiciTransport({ openCredential }: UndiciTransportOptions): ProviderTransport {
  const pools = new Map<string, ProviderPool>();

  function poolOf(target: Target): ProviderPool {
    const { provider } = target;
    const known = pools.get(provider.name);
    if (known?.createdFor === provider) return known;
    // After a catalogue reload, the old pool completes its requests and closes.
    if (known) void Promise.all([known.pool.close(), known.credential?.close()]);
    const pool = createPool(target, openCredential(provider));
    pools.set(provider.name, pool);
    return pool;
  }

  return {
    send: (call) => send(poolOf(call.target), call),
    async close() {
      const closing = [...pools.values()].flatMap(({ pool, credential }) => [
        pool.destroy(),
        credential?.close(),
      ]);
      pools.clear();
      await Promise.all(closing);
    },
  };
}

function createPool(target: Target, credential: Credential | undefined): ProviderPool {
  const { provider } = target;
  const head = requestHead(target);
  return {
    createdFor: provider,
    head,
    credential,
    pool: new Pool(head.origin, {
      connections: provider.maxConcurrent,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: provider.timeouts.connectMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
  };
}

async function send(
  { pool, head, credential }: ProviderPool,
  { target, path: dialectPath, signal, onSent, stream, operation = 'chat', body }: ProviderCall,
): Promise<ProviderResponse> {
  const path = head.pathOf(dialectPath);
  let headers = head.headers[stream ? 'stream' : 'json'];
  if (credential) {
    const authorized = credential.authorize({ url: new URL(path, head.origin), headers, body });
    // Waits only for a signature, or until there is a first valid token.
    headers = { ...headers, ...(authorized instanceof Promise ? await authorized : authorized) };
  }
  const span = startSpan(target, operation);
  const trace = target.provider.sendsTraceparent ? span?.headers : undefined;
  if (trace !== undefined) headers = { ...headers, ...trace };
  const exchange = new ProviderExchange(
    target.provider.name,
    signal,
    onSent,
    span,
    operation === 'embeddings',
  );
  return exchange.send(pool, { method: 'POST', path, headers, body: released(body) });
}

/** undici retains the body of a request until its response ends, but not what it has read from a stream. */
function released(body: Uint8Array): Uint8Array | Readable {
  if (body.length < LARGE_BODY_BYTES) return body;
  const stream = new Readable({ read: () => undefined });
  stream.push(body);
  stream.push(null);
  return stream;
}

/** Undefined when the current request is not traced. */
function startSpan({ provider, providerModel }: Target, operation: string): Span | undefined {
  const tracer = tracing();
  if (tracer?.current() === undefined) return undefined;
  return tracer.start(operation, {
    kind: 'client',
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider.name,
      'gen_ai.request.model': providerModel,
      'http.request.method': 'POST',
      'server.address': new URL(provider.baseUrl).host,
    },
  });
}
