import type { Model, Target } from '../catalogue/model-catalogue';
import { toUpstreamFailure, UpstreamFailure } from '../failure/upstream-failure';
import type { ProviderResponse } from '../ports';
import { type Attempt, MAX_ERROR_RESPONSE_BYTES } from './attempt';
import { classifyErrorResponse, type FailedRequest } from './classify-response';

export interface ErrorTexts {
  /** Whether failures have the provider's text in their internal message. It may quote the prompt. */
  readonly logsErrorTexts?: boolean | undefined;
}

interface FailedCall {
  readonly target: Target;
  readonly model: Model;
  readonly request: FailedRequest;
}

/** Classifies an error response. An unreadable body is treated as empty. */
export async function readFailure(
  attempt: Attempt,
  response: ProviderResponse,
  { logsErrorTexts }: ErrorTexts,
  call: FailedCall,
): Promise<UpstreamFailure> {
  const { target, model, request } = call;
  attempt.expect(target.provider.timeouts.idleMs, 'rest of the response');
  let text = '';
  try {
    text = utf8(await attempt.readAll(MAX_ERROR_RESPONSE_BYTES));
    attempt.finish();
  } catch (error) {
    const failure = toUpstreamFailure(error);
    if (failure.kind === 'cancelled') return failure;
  }
  const header = (name: string) => response.header(name);
  return classifyErrorResponse(response.status, text, header, target, model, request, logsErrorTexts);
}

export function notAnObject(): UpstreamFailure {
  return new UpstreamFailure('failed', { detail: 'the response is not a JSON object' });
}

export function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
