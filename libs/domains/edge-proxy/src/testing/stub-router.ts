import type { CancelSignal } from '@gateway/base';
import type {
  FollowGenerationRequest,
  GenerateRequest,
  GenerateResponse,
  InferenceRouterDefinition,
  Model,
} from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import type { CallMetadata, RpcHandlers } from '@gateway/rpc';
import type { FaultPlan } from './fault-plan';
import type { StubLedger } from './stub-ledger';

/** The messages of a generation; may throw, and may wait for the signal. */
type Script = (request: GenerateRequest, signal: CancelSignal) => AsyncIterable<GenerateResponse>;

export interface StubRouter {
  readonly handlers: RpcHandlers<typeof InferenceRouterDefinition>;
  readonly requests: GenerateRequest[];
  /** The metadata of each request. */
  readonly metadata: CallMetadata[];
  /** Calls that were cancelled. */
  cancelled: number;
  script: Script;
  /** The messages of a running generation; none by default. */
  follow: (request: FollowGenerationRequest, signal: CancelSignal) => AsyncIterable<GenerateResponse>;
}

const USAGE = {
  promptTokens: 11,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 7,
  reasoningTokens: 0,
};

/** A router whose generations follow a script, and settle like real ones. */
export function createStubRouter(
  faults: FaultPlan,
  ledger: StubLedger,
  models: readonly Model[] | undefined,
): StubRouter {
  const stub: StubRouter = {
    requests: [],
    metadata: [],
    cancelled: 0,
    script: hello,
    follow: async function* () {},
    handlers: {
      watchCatalogue: async function* (_request, { signal }) {
        if (models) yield { version: 1n, models: [...models] };
        await aborted(signal);
      },
      generate: async function* (request, { signal, metadata }) {
        stub.requests.push(request);
        stub.metadata.push(metadata);
        let produced = false;
        let response: Buffer | undefined;
        try {
          await faults.reach('router.generate');
          for await (const message of stub.script(request, signal)) {
            if (signal.aborted) throw new GatewayError('internal_error', { internalMessage: 'cancelled' });
            if (message.event?.$case === 'finished') {
              response = completion(request);
              ledger.settle(request.generationId, request.idempotencyScope, response);
            }
            produced = true;
            yield message;
            await faults.reach('router.message');
          }
        } finally {
          if (signal.aborted) stub.cancelled += 1;
          if (produced && !response) {
            ledger.settle(request.generationId, request.idempotencyScope, undefined);
          }
        }
      },
      followGeneration: (request, { signal }) => stub.follow(request, signal),
    },
  };
  return stub;
}

/** Two frames and the last message, or a non-streaming response. */
export async function* hello(request: GenerateRequest): AsyncIterable<GenerateResponse> {
  if (request.stream) {
    yield frames(request, 'Hel', 3);
    yield frames(request, 'lo', 7);
  }
  yield finished(request);
}

export function frames(
  request: GenerateRequest,
  content: string,
  completionTokens: number,
  finishedChoices: number[] = [],
): GenerateResponse {
  const chunk = {
    id: request.generationId,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  };
  const sse = Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
  return { event: { $case: 'frames', value: { sse, completionTokens, finishedChoices } } };
}

export function finished(request: GenerateRequest): GenerateResponse {
  return {
    event: {
      $case: 'finished',
      value: {
        responseJson: request.stream ? undefined : completion(request),
        usage: USAGE,
        exceedsEstimate: false,
        finishReason: 'stop',
        costNanoUsd: 1_500_000n,
      },
    },
  };
}

function completion(request: GenerateRequest): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: request.generationId,
      object: 'chat.completion',
      created: Math.floor(Number(request.createdUnixMs) / 1000),
      model: request.modelId,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, cost: 0.0015 },
    }),
  );
}

export function aborted(signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
