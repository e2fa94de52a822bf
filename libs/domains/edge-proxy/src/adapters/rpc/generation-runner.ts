import { setImmediate } from 'node:timers/promises';
import { Cancellation } from '@gateway/base';
import type {
  FollowGenerationRequest,
  GenerateResponse,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { forEachMessage, isRpcDeadlineExceeded, type CallOptions, type RpcClient } from '@gateway/rpc';
import { type GenerationRunner, limits } from '../../core';

export interface GenerationRunnerPorts {
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
  /** A client of each router that is reachable now. */
  readonly everyInferenceRouter: () => readonly RpcClient<typeof InferenceRouterDefinition>[];
}

export function createGenerationRunner({
  inferenceRouter,
  everyInferenceRouter,
}: GenerationRunnerPorts): GenerationRunner {
  return {
    run: async (request, call, onMessage) => {
      try {
        const messages = inferenceRouter.generate(request, call);
        // A large request was just encoded: decode and send it in another turn of the event loop.
        if (request.bodyJson.length > limits.bodies.chunkBytes) await setImmediate();
        await forEachMessage(messages, onMessage);
      } catch (error) {
        throw isRpcDeadlineExceeded(error) ? overdue(error) : error;
      }
    },
    async follow(generation, call, onMessage) {
      const others = new Cancellation();
      call.signal.addEventListener('abort', () => others.abort(), { once: true });
      const attempts = everyInferenceRouter().map((router) =>
        followAt(router, generation, { ...call, signal: others }, onMessage),
      );
      // Only the router that runs the generation sends messages.
      const ended = await Promise.any(attempts).catch(() => undefined);
      others.abort();
      if (ended?.error !== undefined) throw ended.error;
    },
  };
}

/** Rejects when the generation does not run there. */
async function followAt(
  router: RpcClient<typeof InferenceRouterDefinition>,
  generation: FollowGenerationRequest,
  call: CallOptions,
  onMessage: (message: GenerateResponse) => Promise<void> | undefined,
): Promise<{ readonly error?: unknown }> {
  let runsThere = false;
  try {
    await forEachMessage(router.followGeneration(generation, call), (message) => {
      runsThere = true;
      return onMessage(message);
    });
  } catch (error) {
    if (runsThere) return { error };
    throw error;
  }
  if (!runsThere) throw new Error('the generation does not run at this router');
  return {};
}

/** The deadline of this call is the model's: the response is overdue, whichever service was slow. */
function overdue(cause: GatewayError): GatewayError {
  const { internalMessage } = cause;
  // Its deadline has passed at the router, too, which records that.
  const options = { providerCalled: true, generationRecorded: true };
  return new GatewayError('request_timeout', { internalMessage, cause, ...options });
}
