import { toAbortSignal } from '@gateway/base';
import type {
  GenerateRequest,
  GenerateResponse,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { isResponseKey } from '@gateway/events';
import type { CallContext, RpcHandlers } from '@gateway/rpc';
import type { Generate } from '../core/generation/generate';
import type { GenerationEvent } from '../core/generation/generation-events';
import type { GenerationCall } from '../core/generation/generation-run';
import type { ElasticHold } from '../core/generation/output-gate';
import { ResumableStreams } from '../core/generation/resumable-streams';
import type { CatalogueSource } from '../core/ports';
import type { ExtendHold } from './hold-extender';
import { watchCatalogue } from './catalogue-watch';
import { toGenerateResponse, toGenerationRequest } from './messages';

export interface HandlerPorts {
  readonly catalogue: CatalogueSource;
  readonly generate: Generate;
  readonly extendHold: ExtendHold;
  /** Aborts when the router stops, and ends all catalogue watches. */
  readonly stopping: AbortSignal;
}

export function createRouterHandlers({
  catalogue,
  generate,
  extendHold,
  stopping,
}: HandlerPorts): RpcHandlers<typeof InferenceRouterDefinition> {
  const resumable = new ResumableStreams(generate);
  return {
    watchCatalogue: (_request, { signal }) =>
      watchCatalogue(catalogue, AbortSignal.any([toAbortSignal(signal), stopping])),
    generate(message, context) {
      const request = toGenerationRequest(message);
      checkRequest(request);
      const isResumable = message.resumable && request.stream && request.idempotencyScope !== undefined;
      const call = { ...callOf(context), elasticHold: elasticHoldOf(message, extendHold) };
      if (isResumable) return toMessages(resumable.run(request, call));
      return generate(request, call, toGenerateResponse);
    },
    followGeneration: (message, { signal }) => toMessages(resumable.follow(message, signal) ?? noEvents()),
  };
}

/** A request beyond this limit is a bug of the caller, since the edge validates requests. */
const MAX_COMPLETIONS = 128;

function checkRequest(request: ReturnType<typeof toGenerationRequest>): void {
  const problem =
    request.generationId === '' || request.organizationId === ''
      ? 'without generation or organization id'
      : request.maxOutputTokens < (request.embeddings ? 0 : 1)
        ? 'without a limit of output tokens'
        : request.n > MAX_COMPLETIONS
          ? 'with too many completions'
          : request.responseKey && !isResponseKey(request.responseKey)
            ? 'with an invalid key of its response'
            : undefined;
  if (problem) throw new GatewayError('internal_error', { internalMessage: `a Generate request ${problem}` });
}

/** Only of a stream with one completion: otherwise the output cannot be counted, or held back, while it is generated. */
function elasticHoldOf(
  { elasticHold, stream, n }: GenerateRequest,
  extendHold: ExtendHold,
): ElasticHold | undefined {
  if (!elasticHold) return undefined;
  const { hold, outputTokens, sliceTokens, fullAmountNanoUsd } = elasticHold;
  if (!hold || !stream || n > 1 || sliceTokens < 1) {
    throw new GatewayError('internal_error', { internalMessage: 'an elastic hold that cannot be extended' });
  }
  return {
    amountNanoUsd: hold.amountNanoUsd,
    outputTokens,
    sliceTokens,
    fullAmountNanoUsd,
    extend: (amountNanoUsd) => extendHold({ ...hold, amountNanoUsd }),
  };
}

async function* toMessages(
  events: AsyncIterable<GenerationEvent>,
): AsyncGenerator<GenerateResponse, undefined, void> {
  for await (const event of events) yield toGenerateResponse(event);
}

async function* noEvents(): AsyncGenerator<GenerationEvent, undefined, void> {}

function callOf({ signal, deadlineUnixMs, metadata }: CallContext): GenerationCall {
  const { traceparent } = metadata;
  const traceHeaders: Record<string, string> = traceparent === undefined ? {} : { traceparent };
  return { signal, deadlineUnixMs, traceHeaders };
}
