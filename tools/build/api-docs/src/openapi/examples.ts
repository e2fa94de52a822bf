import type { ErrorCode, ErrorEnvelope } from '@gateway/errors';
import type { JsonObject } from '@gateway/public-api';

/** A request as the documentation shows it. */
export interface RequestExample {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text where it is no JSON. */
  readonly body?: JsonObject | string;
}

/** A real error with the request that leads to it. */
export interface ErrorExample {
  /** The code, and more when a code has several examples. */
  readonly name: string;
  readonly code: ErrorCode;
  /** What is special about the request, the key or the moment. */
  readonly summary: string;
  /** Absent where nothing of the request is to blame. */
  readonly request?: RequestExample;
  /** Besides those of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorEnvelope;
}

export interface AnswerExamples {
  readonly chatRequest: JsonObject;
  readonly chatCompletion: object;
  /** The stream of the same request, as it goes over the wire. */
  readonly chatStream: string;
  readonly models: object;
  readonly credits: object;
  readonly generation: object;
  readonly usage: object;
}
