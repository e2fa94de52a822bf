import type { z } from 'zod';
import type { HeadersOf, JsonOf, PathParameters } from './endpoint';
import type { AnyEndpoint, EndpointOf, Line } from './endpoints';
import type { DashboardErrorCode } from './errors';

/**
 * The dashboard API for browsers. It knows every endpoint by its types alone,
 * so that no schema is loaded to make a call: a call is named as
 * "GET /api/session", and the names say method and path.
 */
export interface DashboardClient {
  /**
   * @returns the answer's JSON; undefined where there is none.
   * @throws ApiError for every answer but a good one, and when there was none;
   * what `signal` was aborted with when it was.
   */
  call<Named extends Line>(line: Named, ...given: Given<Named>): Promise<JsonOf<EndpointOf<Named>>>;
  /** The same for endpoints that write piece by piece: the answer, whose body is still to be read. */
  open<Named extends Line>(line: Named, ...given: Given<Named>): Promise<Response>;
  /** The address of a call without a body, for links and downloads. */
  address<Named extends Line>(line: Named, ...given: Given<Named>): string;
}

export interface DashboardClientOptions {
  /** In front of each path. Default: none, which is this page's own origin. */
  readonly baseUrl?: string;
  readonly fetch?: typeof fetch;
}

type SentOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : undefined;
type Field<Name extends string, Value> = [Value] extends [undefined]
  ? { readonly [Key in Name]?: undefined }
  : Record<never, never> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

type ParametersOf<Of extends AnyEndpoint> = keyof PathParameters<Of['path']> extends never
  ? undefined
  : PathParameters<Of['path']>;

/** What a call is given; the fields are required where the endpoint cannot do without. */
export type Arguments<Named extends Line> = {
  readonly signal?: AbortSignal;
} & Field<'params', ParametersOf<EndpointOf<Named>>> &
  Field<'query', SentOf<FieldOf<EndpointOf<Named>, 'query'>>> &
  Field<'body', SentOf<FieldOf<EndpointOf<Named>, 'body'>>> &
  Field<
    'headers',
    keyof HeadersOf<EndpointOf<Named>> extends never ? undefined : HeadersOf<EndpointOf<Named>>
  >;

type FieldOf<Of, Name extends string> = Of extends { readonly [Key in Name]: infer Value }
  ? Value
  : undefined;

type Given<Named extends Line> =
  Record<never, never> extends Arguments<Named> ? [given?: Arguments<Named>] : [given: Arguments<Named>];

/** The JSON that a call answers with. */
export type Result<Named extends Line> = JsonOf<EndpointOf<Named>>;

/** An answer that says no, or none at all. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    message: string,
    readonly details: {
      /** 0: there was no answer. */
      readonly status: number;
      /** "unreachable": no answer. "unreadable": one that is not this API's, such as a proxy's page. */
      readonly code: DashboardErrorCode | 'unreachable' | 'unreadable';
      /** The field at fault, such as `ip_allowlist[0]`. */
      readonly param?: string;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** Under which our logs have it. */
      readonly requestId?: string;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: details.cause });
  }

  get code() {
    return this.details.code;
  }

  get param() {
    return this.details.param;
  }

  get requestId() {
    return this.details.requestId;
  }
}

interface AnyArguments {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export function createDashboardClient(options: DashboardClientOptions = {}): DashboardClient {
  const { baseUrl = '' } = options;
  const send = options.fetch ?? ((input, init) => fetch(input, init));

  const addressOf = (line: string, { params = {}, query = {} }: AnyArguments): string => {
    const path = line.slice(line.indexOf(' ') + 1);
    const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) search.append(name, String(value));
    }
    return `${baseUrl}${filled}${search.size > 0 ? `?${search}` : ''}`;
  };

  async function open(line: string, given: AnyArguments = {}): Promise<Response> {
    const method = line.slice(0, line.indexOf(' '));
    const headers = Object.entries(given.headers ?? {}).filter(
      (header): header is [string, string] => header[1] !== undefined,
    );
    let response: Response;
    try {
      response = await send(addressOf(line, given), {
        method,
        credentials: 'same-origin',
        headers: Object.fromEntries([
          ...headers,
          // Also without a body: it is how a change proves not to come from another site's form.
          ...(method === 'GET' ? [] : [['content-type', 'application/json']]),
        ]),
        ...(method === 'GET' ? {} : { body: JSON.stringify(given.body ?? {}) }),
        ...(given.signal ? { signal: given.signal } : {}),
      });
    } catch (error) {
      given.signal?.throwIfAborted();
      throw new ApiError('The gateway cannot be reached.', {
        status: 0,
        code: 'unreachable',
        metadata: {},
        cause: error,
      });
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  const client = {
    open,
    address: (line: string, given: AnyArguments = {}) => addressOf(line, given),
    async call(line: string, given: AnyArguments = {}) {
      const response = await open(line, given);
      if (response.status === 204) return undefined;
      try {
        return (await response.json()) as unknown;
      } catch (error) {
        given.signal?.throwIfAborted();
        throw unreadable(response, error);
      }
    },
  };
  // The one place where the names of calls become strings; the interface keeps them typed.
  return client as unknown as DashboardClient;
}

async function refusal(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = (body as { error?: Partial<WireError> } | undefined)?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return unreadable(response);
  const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(error.message, {
    status: response.status,
    code: error.code,
    ...(error.param === undefined ? {} : { param: error.param }),
    metadata: error.metadata ?? {},
    ...requestIdOf(response),
    ...(Number.isNaN(retryAfterS) ? {} : { retryAfterMs: retryAfterS * 1000 }),
  });
}

interface WireError {
  readonly code: DashboardErrorCode;
  readonly message: string;
  readonly param?: string;
  readonly metadata: Record<string, unknown>;
}

function unreadable(response: Response, cause?: unknown): ApiError {
  return new ApiError(`The answer (${response.status}) is not one of the dashboard's.`, {
    status: response.status,
    code: 'unreadable',
    metadata: {},
    ...requestIdOf(response),
    cause,
  });
}

function requestIdOf(response: Response): { readonly requestId?: string } {
  const requestId = response.headers.get('x-request-id');
  return requestId === null ? {} : { requestId };
}
