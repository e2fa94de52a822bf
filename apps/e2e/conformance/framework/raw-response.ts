import type http from 'node:http';

export interface RawResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; throws if it is not JSON. */
  json<Body = ErrorBody>(): Body;
}

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly code: string;
    readonly param?: string;
    readonly metadata: Record<string, unknown>;
  };
}
