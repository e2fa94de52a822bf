import { endpoints, type Endpoint, type Line } from '@gateway/dashboard-contract';
import type { Result } from '@gateway/dashboard-contract/client';

interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface ApiDouble {
  /** Says what a call answers; what is not said answers 404. The answer has to be what the schema describes. */
  on<Named extends Line>(line: Named, answer: (asked: Asked) => Result<Named>): void;
  /** The call is refused, as the API refuses. */
  refuse(
    line: Line,
    status: number,
    error: { code: string; message: string; param?: string; metadata?: object },
  ): void;
  /** The call is never answered. */
  hang(line: Line): void;
  /** What was asked of a call, in its order. */
  asked(line: Line): readonly Asked[];
}

const described: ReadonlyMap<string, Endpoint> = new Map(
  Object.values(endpoints)
    .flatMap((family) => Object.values<Endpoint>(family))
    .map((one) => [`${one.method} ${one.path}`, one]),
);

const REQUEST_ID = 'req-of-the-test';

/**
 * Takes the place of the network for component tests. It validates what is
 * sent and what is answered by the contract's schemas, so that no test passes
 * on what the real API would never say or take.
 */
export function installApiDouble(): ApiDouble {
  const answers = new Map<string, (asked: Asked) => Response | Promise<Response>>();
  const log = new Map<string, Asked[]>();

  globalThis.fetch = async (input, init) => {
    const url = new URL(String(input), 'http://localhost');
    const method = init?.method ?? 'GET';
    const found = [...described].find(([, one]) => one.method === method && matches(one.path, url.pathname));
    if (!found) throw new Error(`the contract has no ${method} ${url.pathname}`);
    const [line, endpoint] = found;
    const body: unknown = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined;
    if (endpoint.body) endpoint.body.parse(body);
    if (endpoint.query) endpoint.query.parse(Object.fromEntries(url.searchParams));
    const asked = { params: paramsOf(endpoint.path, url.pathname), query: url.searchParams, body };
    log.set(line, [...(log.get(line) ?? []), asked]);
    const answer = answers.get(line);
    return answer
      ? answer(asked)
      : refusal(404, { code: 'not_found', message: `The test says nothing of ${line}.` });
  };

  return {
    on(line, answer) {
      const endpoint = described.get(line);
      answers.set(line, (asked) => {
        const value = answer(asked);
        if (endpoint?.answer.kind !== 'json') return new Response(null, { status: 204 });
        return json(endpoint.answer.status, endpoint.answer.schema.parse(value));
      });
    },
    refuse: (line, status, error) => void answers.set(line, () => refusal(status, error)),
    hang: (line) => void answers.set(line, () => new Promise<Response>(() => undefined)),
    asked: (line) => log.get(line) ?? [],
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
