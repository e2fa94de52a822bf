import { errorEnvelope, type GatewayError } from '@gateway/errors';
import { DONE, errorChunk } from '../stream/error-chunk';
import type { ResponseContext, ResponseFormat } from './response-format';

/** The router's own form: its bytes are passed on. */
export const chatResponse: ResponseFormat = {
  errorBody: errorEnvelope,
  openStream: (context) => ({
    push: (chunks) => chunks,
    end: () => DONE,
    fail: (error, finished) => failure(context, error, finished) + DONE,
  }),
  response: (completionJson) => completionJson,
};

function failure(context: ResponseContext, error: GatewayError, finished: readonly number[]): string {
  const { generationId, createdUnixS, modelId, n } = context;
  const unfinishedChoices = unfinishedOf(n, finished);
  return errorChunk({ generationId, createdUnixS, modelId, error, unfinishedChoices });
}

/** All of them when every completion has finished, so that the client notices the error. */
function unfinishedOf(n: number, finished: readonly number[]): readonly number[] {
  const all = Array.from({ length: n }, (_, index) => index);
  const unfinished = all.filter((index) => !finished.includes(index));
  return unfinished.length > 0 ? unfinished : all;
}
