import { costOfUsage, nanoUsd, type NanoUsd, type Prices, type Usage } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
import type { ReportedUsage } from '../dialects/dialect';
import {
  outputTexts,
  renderCompletion,
  renderUsage,
  type Choice,
  type CompletionHead,
  type OutputTexts,
} from '../completion/completion';
import type {
  FinishedGeneration,
  CompletionOutcome,
  GenerationRequest,
  ProviderAttempt,
  StoredResponse,
} from './finished-generation';
import type { ContentRecorder } from '../content-log/ports';
import type { GenerationRecorder, RouterObserver, TokenCounter } from '../ports';
import { countOutput } from './count-output';
import { countedUsage, checkUsage } from './usage';

export interface FinalizePorts {
  readonly tokenCounter: TokenCounter;
  readonly recorder: GenerationRecorder;
  readonly contents: ContentRecorder;
  readonly observer: RouterObserver;
}

/** The result of a generation, before it is billed. */
export interface GenerationResult {
  readonly outcome: CompletionOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly target: Target;
  readonly choices: readonly Choice[];
  /** The provider was stopped before the end of its output. */
  readonly isCut: boolean;
  /** Nothing was sent, and nothing is owed. */
  readonly isFree: boolean;
  /** The output that the hold of a cut stream covers; undefined: the whole limit. */
  readonly heldOutputTokens: number | undefined;
  readonly reportedUsage: ReportedUsage | undefined;
  readonly systemFingerprint: string | undefined;
  readonly latencyMs: number;
  readonly generationTimeMs: number;
  readonly timeToFirstTokenMs: number | undefined;
  readonly attempts: readonly ProviderAttempt[];
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

export interface Bill {
  readonly usage: Usage;
  readonly usageSource: 'provider' | 'counted';
  readonly usageJson: object;
  readonly cost: NanoUsd;
  readonly finishReason: FinishedGeneration['finishReason'];
  /** Renders the chat.completion object. */
  readonly responseJson: () => string;
}

export interface GenerationScope {
  readonly request: GenerationRequest;
  readonly model: Model;
  readonly head: CompletionHead;
  readonly prices: Prices;
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** The finish_reason of a choice that the provider did not finish. */
const UNFINISHED = { completed: 'stop', cancelled: null, failed: 'error' } as const;

/** Calculates the cost of a generation, from the provider's usage if it is plausible, else from our own count. */
export async function billGeneration(
  ports: FinalizePorts,
  scope: GenerationScope,
  result: GenerationResult,
): Promise<Bill> {
  const { request, model, prices, head } = scope;
  const { choices } = result;
  const texts = outputTexts(choices);
  const checked = checkUsage(result.reportedUsage, {
    input: { estimatedInputTokens: request.estimatedInputTokens, ...request.inputParts },
    maxCompletionTokens: result.heldOutputTokens ?? request.maxOutputTokens * request.n,
    completions: request.n,
    contextLength: model.contextLength,
    isCut: result.isCut,
    producedOutput: texts.visible.length + texts.reasoning.length > 0,
  });
  const usage = result.isFree
    ? NO_USAGE
    : checked.kind === 'accepted'
      ? checked.usage
      : {
          ...(await countUsage(ports, scope, result, texts)),
          ...(checked.kind === 'input_only' ? checked.input : {}),
        };
  const { json, cost } = renderUsage(usage, prices);
  // A failed or cancelled stream may have no report.
  if (checked.kind === 'missing' && !result.isCut) ports.observer.usageMissing(result.target);
  if (checked.kind === 'rejected') {
    ports.observer.usageRejected(result.target, {
      promptTokens: Math.max(0, checked.reported.promptTokens - usage.promptTokens),
      completionTokens: Math.max(0, checked.reported.completionTokens - usage.completionTokens),
      cost: excessOf(costOfUsage(checked.reported, prices), cost),
    });
  }
  return {
    usage,
    usageSource: checked.kind === 'accepted' ? 'provider' : 'counted',
    usageJson: json,
    cost,
    finishReason: finishReasonOf(result),
    responseJson: () =>
      renderCompletion(head, choices, json, result.systemFingerprint, UNFINISHED[result.outcome]),
  };
}

async function countUsage(
  ports: FinalizePorts,
  { request, model }: GenerationScope,
  result: GenerationResult,
  texts: OutputTexts,
): Promise<Usage> {
  const [visible, reasoning] = await Promise.all([
    countOutput(ports.tokenCounter, texts.visible, model.tokenCounting),
    countOutput(ports.tokenCounter, texts.reasoning, model.tokenCounting),
  ]);
  if (visible.isEstimated || reasoning.isEstimated) ports.observer.usageEstimated(result.target);
  return countedUsage(
    request.estimatedInputTokens,
    visible.tokens + reasoning.tokens,
    reasoning.tokens,
    request.maxOutputTokens * request.n,
  );
}

function excessOf(reported: NanoUsd, owed: NanoUsd): NanoUsd {
  return nanoUsd(reported > owed ? reported - owed : 0n);
}

/** Records a generation durably. */
export function recordGeneration(
  ports: FinalizePorts,
  scope: GenerationScope,
  result: GenerationResult,
  bill: Bill,
  stored: StoredResponse | undefined,
): Promise<void> {
  const { provider, providerModel, cost } = result.target;
  return ports.recorder.record({
    request: scope.request,
    prices: scope.prices,
    provider: provider.name,
    providerModel,
    outcome: result.outcome,
    finishReason: bill.finishReason,
    usage: bill.usage,
    usageSource: bill.usageSource,
    providerCost: cost && costOfUsage(bill.usage, cost),
    latencyMs: result.latencyMs,
    generationTimeMs: result.generationTimeMs,
    timeToFirstTokenMs: result.timeToFirstTokenMs,
    attempts: result.attempts,
    errorCode: result.errorCode,
    stored,
    traceHeaders: scope.traceHeaders,
  });
}

function finishReasonOf(result: GenerationResult): FinishedGeneration['finishReason'] {
  switch (result.outcome) {
    case 'cancelled':
      return '';
    case 'failed':
      return 'error';
    case 'completed':
      return result.choices[0]?.finishReason ?? 'stop';
  }
}
