export interface ContextLength {
  readonly limit: number;
  readonly requested: number;
}

/** An error response of the provider, with its HTTP status. */
export class ProviderError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Set for a request that exceeds the context window, in tokens. */
  readonly contextLength: ContextLength | undefined;

  constructor(fields: {
    status: number;
    message: string;
    type?: string;
    code?: string | null;
    param?: string | null;
    headers?: Readonly<Record<string, string>>;
    contextLength?: ContextLength;
  }) {
    super(fields.message);
    this.name = 'ProviderError';
    this.status = fields.status;
    this.type = fields.type ?? 'invalid_request_error';
    this.code = fields.code ?? null;
    this.param = fields.param ?? null;
    this.headers = fields.headers ?? {};
    this.contextLength = fields.contextLength;
  }

  /** The body, in OpenAI's shape: all four fields are always present. */
  body(): string {
    return JSON.stringify({
      error: { message: this.message, type: this.type, param: this.param, code: this.code },
    });
  }
}

/** A 400 about one field of the request. */
export function badRequest(message: string, param: string | null = null, code: string | null = null) {
  return new ProviderError({ status: 400, message, param, code });
}

/** The error responses that a fault can select by status. */
const BY_STATUS: Readonly<Record<number, { message: string; type: string; code: string | null }>> = {
  400: { message: 'The request was rejected (emulated fault).', type: 'invalid_request_error', code: null },
  401: {
    message: 'Incorrect API key provided: emulated fault.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  },
  403: {
    message: 'This project does not have access (emulated fault).',
    type: 'invalid_request_error',
    code: 'unsupported_country_region_territory',
  },
  404: {
    message: 'The model does not exist or you do not have access to it (emulated fault).',
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  408: { message: 'Request timed out (emulated fault).', type: 'timeout_error', code: null },
  429: {
    message: 'Rate limit reached for requests (emulated fault).',
    type: 'requests',
    code: 'rate_limit_exceeded',
  },
  500: {
    message: 'The server had an error while processing your request (emulated fault).',
    type: 'server_error',
    code: null,
  },
  502: { message: 'Bad gateway (emulated fault).', type: 'server_error', code: null },
  503: {
    message: 'The engine is currently overloaded, please try again later (emulated fault).',
    type: 'server_error',
    code: null,
  },
  504: { message: 'Gateway timeout (emulated fault).', type: 'server_error', code: null },
  529: { message: 'Overloaded (emulated fault).', type: 'server_error', code: null },
};

export const FAULT_STATUSES: readonly number[] = Object.keys(BY_STATUS).map(Number);

/** The error response for a status in `FAULT_STATUSES`; `retryAfterSeconds` is sent as `retry-after`. */
export function statusFault(status: number, retryAfterSeconds: number | undefined): ProviderError {
  const known = BY_STATUS[status];
  if (known === undefined) throw new Error(`no emulated error has status ${status}`);
  const seconds = retryAfterSeconds ?? (status === 429 ? 1 : undefined);
  const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return new ProviderError({ status, ...known, headers });
}

/** The error of a request that exceeds the context window, with OpenAI's text. */
export function contextLengthExceeded(limit: number, input: number, output: number): ProviderError {
  return new ProviderError({
    status: 400,
    message:
      `This model's maximum context length is ${limit} tokens. However, you requested ${input + output} tokens ` +
      `(${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
    param: 'messages',
    code: 'context_length_exceeded',
    contextLength: { limit, requested: input + output },
  });
}
