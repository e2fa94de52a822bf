import { setImmediate } from 'node:timers/promises';
import type {
  GenerateRequest,
  GenerateResponse,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { forEachMessage, isRpcDeadlineExceeded, type RpcClient } from '@gateway/rpc';
import { type GenerationRunner, limits } from '../../core';

export interface GenerationRunnerPorts {
  readonly inferenceRouter: RpcClient<typeof InferenceRouterDefinition>;
}

export function createGenerationRunner({
  inferenceRouter,
}: GenerationRunnerPorts): GenerationRunner<GenerateRequest, GenerateResponse> {
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
  };
}

/** The deadline of this call is the model's: the response is overdue, whichever service was slow. */
function overdue(cause: GatewayError): GatewayError {
  const { internalMessage } = cause;
  // Its deadline has passed at the router, too, which records that.
  const options = { providerCalled: true, generationRecorded: true };
  return new GatewayError('request_timeout', { internalMessage, cause, ...options });
}
