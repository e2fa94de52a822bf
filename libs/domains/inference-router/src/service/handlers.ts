import { toAbortSignal } from '@gateway/base';
import type { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import type { CallContext, RpcHandlers } from '@gateway/rpc';
import type { Generate } from '../core/generation/generate';
import type { GenerationCall } from '../core/generation/generation-run';
import type { CatalogueSource } from '../core/ports';
import { watchCatalogue } from './catalogue-watch';
import { toGenerateResponse, toGenerationRequest } from './messages';

export interface HandlerPorts {
  readonly catalogue: CatalogueSource;
  readonly generate: Generate;
  /** Aborts when the router stops; ends every watch. */
  readonly stopping: AbortSignal;
}

export function createRouterHandlers({
  catalogue,
  generate,
  stopping,
}: HandlerPorts): RpcHandlers<typeof InferenceRouterDefinition> {
  return {
    watchCatalogue: (_request, { signal }) =>
      watchCatalogue(catalogue, AbortSignal.any([toAbortSignal(signal), stopping])),
    generate(message, context) {
      const request = toGenerationRequest(message);
      checkRequest(request);
      return generate(request, callOf(context), toGenerateResponse);
    },
  };
}

/** Limits on what a caller may ask for: a request beyond them is a fault of ours, not the customer's. */
const MAX_COMPLETIONS = 128;

function checkRequest(request: ReturnType<typeof toGenerationRequest>): void {
  const fault =
    request.generationId === '' || request.organizationId === ''
      ? 'without generation or organization id'
      : request.maxOutputTokens < 1
        ? 'without a limit of output tokens'
        : request.n > MAX_COMPLETIONS
          ? 'with too many completions'
          : undefined;
  if (fault) throw new GatewayError('internal_error', { internalMessage: `a Generate request ${fault}` });
}

function callOf({ signal, deadlineUnixMs, metadata }: CallContext): GenerationCall {
  const { traceparent } = metadata;
  const traceHeaders: Record<string, string> = traceparent === undefined ? {} : { traceparent };
  return { signal, deadlineUnixMs, traceHeaders };
}
