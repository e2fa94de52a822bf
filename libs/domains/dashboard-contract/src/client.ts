import type { z } from 'zod';
import type { HeadersOf, JsonOf, PathParameters } from './endpoint';
import type { AnyEndpoint, EndpointOf, EndpointName } from './endpoints';
import type { DashboardErrorCode } from './errors';
import { withoutSecrets } from './secrets';

export { withoutSecrets };

/**
 * The dashboard API for browsers. Endpoints are named by method and path, such as "GET /api/session",
 * and are typed without loading any schema.
 */
export interface DashboardClient {
  /**
   * @returns the response's JSON; undefined without a body.
   * @throws ApiError for an error response or a network failure; the abort reason when `signal` was aborted.
   */
  call<Name extends EndpointName>(
    endpoint: Name,
    ...args: CallArguments<Name>
  ): Promise<JsonOf<EndpointOf<Name>>>;
  /** The same for streaming endpoints: the response, whose body is still unread. */
  open<Name extends EndpointName>(endpoint: Name, ...args: CallArguments<Name>): Promise<Response>;
  /** The URL of a call without a body, for links and downloads. */
  url<Name extends EndpointName>(endpoint: Name, ...args: CallArguments<Name>): string;
}

/**
 * The header of requests that no person caused, such as polls. They do not extend the session, so that a forgotten tab
 * signs out.
 */
export const BACKGROUND_HEADER = 'gateway-background';

export interface DashboardClientOptions {
  /** Prefix of each path. Default: none, so requests go to the page's own origin. */
  readonly baseUrl?: string;
  readonly fetch?: typeof fetch;
  /** Whether a request is sent without an action of a person. Default: never. */
  readonly isBackground?: () => boolean;
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

/** The options of a call; the fields that the endpoint needs are required. */
export type CallOptions<Name extends EndpointName> = {
  readonly signal?: AbortSignal;
} & Field<'params', ParametersOf<EndpointOf<Name>>> &
  Field<'query', SentOf<FieldOf<EndpointOf<Name>, 'query'>>> &
  Field<'body', SentOf<FieldOf<EndpointOf<Name>, 'body'>>> &
  Field<'headers', keyof HeadersOf<EndpointOf<Name>> extends never ? undefined : HeadersOf<EndpointOf<Name>>>;

type FieldOf<Of, Name extends string> = Of extends { readonly [Key in Name]: infer Value }
  ? Value
  : undefined;

type CallArguments<Name extends EndpointName> =
  Record<never, never> extends CallOptions<Name> ? [args?: CallOptions<Name>] : [args: CallOptions<Name>];

/** The JSON that a call returns. */
export type Result<Name extends EndpointName> = JsonOf<EndpointOf<Name>>;

/** An error response, or a network failure. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    message: string,
    readonly details: {
      /** 0 when there was no response. */
      readonly status: number;
      /**
       * "unreachable": no response. "unreadable": a response that is not from this API, such as a
       * proxy's error page.
       */
      readonly code: DashboardErrorCode | 'unreachable' | 'unreadable';
      /** The invalid field, such as `ip_allowlist[0]`. */
      readonly param?: string;
      readonly metadata: Readonly<Record<string, unknown>>;
      /** The id of the request in the gateway's logs. */
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

interface AnyCallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

export function createDashboardClient(options: DashboardClientOptions = {}): DashboardClient {
  const { baseUrl = '' } = options;
  const send = options.fetch ?? ((input, init) => fetch(input, init));

  // Addresses are logged and kept in histories, so they never have a secret that a person has pasted.
  const urlOf = (endpoint: string, { params = {}, query = {} }: AnyCallOptions): string => {
    const path = endpoint.slice(endpoint.indexOf(' ') + 1);
    const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
      encodeURIComponent(withoutSecrets(params[name] ?? '')),
    );
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) search.append(name, withoutSecrets(String(value)));
    }
    return `${baseUrl}${filled}${search.size > 0 ? `?${search}` : ''}`;
  };

  async function open(endpoint: string, args: AnyCallOptions = {}): Promise<Response> {
    const method = endpoint.slice(0, endpoint.indexOf(' '));
    const headers = Object.entries(args.headers ?? {}).filter(
      (header): header is [string, string] => header[1] !== undefined,
    );
    let response: Response;
    try {
      response = await send(urlOf(endpoint, args), {
        method,
        credentials: 'same-origin',
        headers: Object.fromEntries([
          ...headers,
          ...(options.isBackground?.() ? [[BACKGROUND_HEADER, 'true']] : []),
          // Sent without a body too: the server rejects writes without it, as forms of other sites cannot
          // set it.
          ...(method === 'GET' ? [] : [['content-type', 'application/json']]),
        ]),
        ...(method === 'GET' ? {} : { body: JSON.stringify(args.body ?? {}) }),
        ...(args.signal ? { signal: args.signal } : {}),
      });
    } catch (error) {
      args.signal?.throwIfAborted();
      throw new ApiError('Could not reach the gateway.', {
        status: 0,
        code: 'unreachable',
        metadata: {},
        cause: error,
      });
    }
    if (!response.ok) throw await errorFrom(response);
    return response;
  }

  const client = {
    open,
    url: (endpoint: string, args: AnyCallOptions = {}) => urlOf(endpoint, args),
    async call(endpoint: string, args: AnyCallOptions = {}) {
      const response = await open(endpoint, args);
      if (response.status === 204) return undefined;
      try {
        return (await response.json()) as unknown;
      } catch (error) {
        args.signal?.throwIfAborted();
        throw unreadableError(response, error);
      }
    },
  };
  // Inside, endpoint names are plain strings; the interface keeps them typed.
  return client as unknown as DashboardClient;
}

async function errorFrom(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = (body as { error?: Partial<WireError> } | undefined)?.error;
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') return unreadableError(response);
  const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(error.message, {
    status: response.status,
    code: error.code,
    param: error.param,
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

function unreadableError(response: Response, cause?: unknown): ApiError {
  return new ApiError(`Unexpected response (HTTP ${response.status}).`, {
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
