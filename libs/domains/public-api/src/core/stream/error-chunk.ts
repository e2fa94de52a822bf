import { errorEnvelope, type GatewayError } from '@gateway/errors';

export interface ErrorChunkOptions {
  readonly generationId: string;
  readonly createdUnixS: number;
  readonly modelId: string;
  readonly error: GatewayError;
  /** The indexes of the completions without a finish_reason; not empty, since clients read the first choice. */
  readonly unfinishedChoices: readonly number[];
}

export const DONE = 'data: [DONE]\n\n';

/**
 * The last chunk of a stream that failed after its start: an ordinary chunk
 * whose choices have the finish_reason "error", with the error envelope in `error`.
 */
export function errorChunk({
  generationId,
  createdUnixS,
  modelId,
  error,
  unfinishedChoices,
}: ErrorChunkOptions): string {
  const chunk = {
    id: generationId,
    object: 'chat.completion.chunk',
    created: createdUnixS,
    model: modelId,
    choices: unfinishedChoices.map((index) => ({
      index,
      delta: { content: '' },
      logprobs: null,
      finish_reason: 'error',
    })),
    error: errorEnvelope(error).error,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
