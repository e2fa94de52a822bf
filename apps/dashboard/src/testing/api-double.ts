import { endpoints, type Endpoint, type EndpointName } from '@gateway/dashboard-contract';
import type { Result } from '@gateway/dashboard-contract/client';

interface RecordedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface ApiDouble {
  /** Sets the response of an endpoint, validated by its schema. Other endpoints return 404. */
  on<Name extends EndpointName>(endpoint: Name, respond: (request: RecordedRequest) => Result<Name>): void;
  /** Sets an error response. */
  refuse(
    endpoint: EndpointName,
    status: number,
    error: { code: string; message: string; param?: string; metadata?: object },
  ): void;
  /** Leaves requests pending. */
  hang(endpoint: EndpointName): void;
  /** The requests to an endpoint, in order. */
  requestsTo(endpoint: EndpointName): readonly RecordedRequest[];
  /** The addresses of all requests. */
  addresses(): readonly string[];
}

/** The requested page of a list, searched as the server does. */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  query: URLSearchParams,
  textOf: (item: Item) => string,
): { data: Item[]; next_page_token: string | null } {
  const search = (query.get('search') ?? '').toLowerCase();
  const matches = items.filter((item) => textOf(item).toLowerCase().includes(search));
  const token = query.get('page_token') ?? '';
  const start = token === '' ? 0 : matches.findIndex(({ id }) => id === token) + 1;
  const data = matches.slice(start, start + Number(query.get('page_size') ?? 50));
  return { data, next_page_token: start + data.length < matches.length ? (data.at(-1)?.id ?? null) : null };
}

const endpointsByName: ReadonlyMap<string, Endpoint> = new Map(
  Object.values(endpoints)
    .flatMap((family) => Object.values<Endpoint>(family))
    .map((one) => [`${one.method} ${one.path}`, one]),
);

const REQUEST_ID = 'req-test';

/**
 * Replaces the network in component tests. Requests and responses are validated by the contract's
 * schemas.
 */
export function installApiDouble(): ApiDouble {
  const handlers = new Map<string, (request: RecordedRequest) => Response | Promise<Response>>();
  const log = new Map<string, RecordedRequest[]>();
  const addresses: string[] = [];

  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input), 'http://localhost');
    const method = init?.method ?? 'GET';
    addresses.push(url.href);
    const found = [...endpointsByName].find(
      ([, one]) => one.method === method && matches(one.path, url.pathname),
    );
    if (!found) throw new Error(`the contract has no ${method} ${url.pathname}`);
    const [name, endpoint] = found;
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    if (endpoint.body) endpoint.body.parse(body);
    if (endpoint.query) endpoint.query.parse(Object.fromEntries(url.searchParams));
    const request = {
      params: paramsOf(endpoint.path, url.pathname),
      query: url.searchParams,
      body,
      headers: new Headers(init?.headers),
    };
    log.set(name, [...(log.get(name) ?? []), request]);
    const handler = handlers.get(name);
    return handler
      ? handler(request)
      : refusal(404, { code: 'not_found', message: `The test has no response for ${name}.` });
  };

  return {
    on(name, respond) {
      const endpoint = endpointsByName.get(name);
      handlers.set(name, (request) => {
        const value = respond(request);
        if (endpoint?.response.kind !== 'json') return new Response(null, { status: 204 });
        return json(endpoint.response.status, endpoint.response.schema.parse(value));
      });
    },
    refuse: (name, status, error) => void handlers.set(name, () => refusal(status, error)),
    hang: (name) => void handlers.set(name, () => new Promise<Response>(() => undefined)),
    requestsTo: (name) => log.get(name) ?? [],
    addresses: () => addresses,
  };
}

function json(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': REQUEST_ID },
  });
}

function refusal(
  status: number,
  error: { code: string; message: string; param?: string; metadata?: object },
): Response {
  return json(status, { error: { type: 'invalid_request_error', metadata: {}, ...error } });
}

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
const matches = (path: string, pathname: string) => patternOf(path).test(pathname);
const paramsOf = (path: string, pathname: string) => ({ ...patternOf(path).exec(pathname)?.groups });
