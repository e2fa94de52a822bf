import { errorEnvelope, type GatewayError } from '@gateway/errors';

export interface ErrorChunkOptions {
  readonly generationId: string;
  readonly createdUnixS: number;
  readonly modelId: string;
  readonly error: GatewayError;
}

export const DONE = 'data: [DONE]\n\n';

/**
 * The last chunk of a stream that failed after its start: an ordinary chunk
 * whose finish_reason is "error", with the error envelope in `error`.
 */
export function errorChunk({ generationId, createdUnixS, modelId, error }: ErrorChunkOptions): string {
  const chunk = {
    id: generationId,
    object: 'chat.completion.chunk',
    created: createdUnixS,
    model: modelId,
    choices: [{ index: 0, delta: { content: '' }, logprobs: null, finish_reason: 'error' }],
    error: errorEnvelope(error).error,
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
