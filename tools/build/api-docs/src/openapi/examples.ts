import type { ErrorCode, ErrorEnvelope } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';

/** A request in the documentation. */
export interface RequestExample {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string when it is not JSON. */
  readonly body?: JsonObject | string;
}

/** An error with a request that causes it. */
export interface ErrorExample {
  /** The code, with a suffix when a code has several examples. */
  readonly name: string;
  readonly code: ErrorCode;
  /** The cause, such as a property of the request or the key. */
  readonly summary: string;
  /** Absent when no request causes the error. */
  readonly request?: RequestExample;
  /** In addition to those of every response. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorEnvelope;
}

export interface ResponseExamples {
  readonly chatRequest: JsonObject;
  readonly chatCompletion: object;
  /** The event stream of the same request, as sent. */
  readonly chatStream: string;
  readonly messageRequest: JsonObject;
  readonly message: object;
  readonly messageStream: string;
  readonly messageTokens: object;
  readonly responseRequest: JsonObject;
  readonly response: object;
  readonly responseStream: string;
  readonly embeddingsRequest: JsonObject;
  readonly embeddings: object;
  readonly models: object;
  readonly credits: object;
  readonly generation: object;
  readonly usage: object;
}
