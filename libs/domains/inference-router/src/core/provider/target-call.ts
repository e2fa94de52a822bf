import type { CancelSignal } from '@gateway/base';
import type { Model, Target } from '../catalogue/model-catalogue';
import type { Choice, CompletionHead } from '../completion/completion';
import type { ReportedUsage } from '../dialects/dialect';
import type { GenerationRequest } from '../generation/finished-generation';
import type { OutputGate } from '../generation/output-gate';
import type { EncodedEmbeddings } from './encode-embeddings';

/** A complete non-streaming response. */
export interface OpenedResponse {
  readonly kind: 'response';
  /** The completions. Embeddings have none. */
  readonly choices: readonly Choice[];
  /** Each as base64 of little-endian 32-bit floats. */
  readonly embeddings?: readonly string[];
  readonly reportedUsage: ReportedUsage | undefined;
  readonly systemFingerprint: string | undefined;
}

export interface TargetCall {
  readonly target: Target;
  readonly model: Model;
  readonly request: GenerationRequest;
  readonly head: CompletionHead;
  readonly body: Uint8Array;
  /** The inputs of a request for embeddings, instead of `body`. */
  readonly embeddings?: EncodedEmbeddings | undefined;
  readonly callerSignal: CancelSignal;
  /** The gate of a stream whose hold covers a part of its output. */
  readonly gate: OutputGate | undefined;
  /** Called when the request was sent to the provider. */
  readonly onSent: () => void;
  /** The rest of the generation's total timeout. */
  readonly totalMs: number;
}

/** Whether the provider is called for a stream. JSON of one that refuses to stream it is requested whole. */
export function requestsStream(
  { stream, jsonResponse }: Pick<GenerationRequest, 'stream' | 'jsonResponse'>,
  { options }: Pick<Target, 'options'>,
): boolean {
  return stream && !(jsonResponse === true && options.refusesJsonStreams === true);
}
