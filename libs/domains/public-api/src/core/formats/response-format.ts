import type { GatewayError } from '@gateway/errors';
import type { RequestedResponse } from './requested-response';

/** What every response of a generation says. */
export interface ResponseContext {
  readonly generationId: string;
  readonly createdUnixS: number;
  readonly modelId: string;
  readonly estimatedInputTokens: number;
  /** The number of requested completions. */
  readonly n: number;
  /** stream_options.include_usage of a chat completion. */
  readonly includeUsage: boolean;
  readonly requested: RequestedResponse;
}

/**
 * Turns the chunks of a chat completion, which is what the router sends, into the events of a format. Its events are the
 * same each time that it gets the same chunks.
 */
export interface StreamRenderer {
  /** @param chunks one or more complete server-sent events. @returns those of the format, in UTF-8 or as a string. */
  push(chunks: Buffer): Buffer | string;
  /** The events after the last chunk. */
  end(): string;
  /** The events of a failure after the start. @param finished the indexes of the completions that are complete. */
  fail(error: GatewayError, finished: readonly number[]): string;
}

/** How responses of a public format are written. Pure. */
export interface ResponseFormat {
  /** The body of an error without a stream. */
  readonly errorBody: (error: GatewayError) => object;
  readonly openStream: (context: ResponseContext) => StreamRenderer;
  /**
   * @param completionJson a chat.completion object, or a list of embeddings.
   * @returns the body; in parts where writing it takes long.
   */
  readonly response: (
    completionJson: Uint8Array,
    context: ResponseContext,
  ) => string | Uint8Array | Generator<string, void, void>;
}
