import type { NanoUsd, Prices, Usage } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
import {
  outputTexts,
  renderCompletion,
  renderUsage,
  type Choice,
  type CompletionHead,
} from '../completion/completion';
import type { FinishedGeneration, GenerationEnding, GenerationRequest } from './finished-generation';
import type { GenerationRecorder, RouterObserver, TokenCounter } from '../ports';
import { countOutput } from './count-output';
import { believedUsage, countedUsage } from './usage';

export interface SettlePorts {
  readonly tokenCounter: TokenCounter;
  readonly recorder: GenerationRecorder;
  readonly observer: RouterObserver;
}

/** What a generation came to. */
export interface Outcome {
  readonly ending: GenerationEnding;
  readonly errorCode: ErrorCode | undefined;
  readonly target: Target;
  readonly choices: readonly Choice[];
  readonly reportedUsage: unknown;
  readonly systemFingerprint: string | undefined;
  readonly latencyMs: number;
  readonly generationTimeMs: number;
}

export interface Bill {
  readonly usage: Usage;
  readonly usageSource: 'provider' | 'counted';
  readonly usageJson: object;
  readonly cost: NanoUsd;
  readonly finishReason: FinishedGeneration['finishReason'];
  /** The chat.completion object of a generation that came to its end. */
  readonly responseJson: () => string;
}

export interface SettleScope {
  readonly request: GenerationRequest;
  readonly model: Model;
  readonly head: CompletionHead;
  readonly prices: Prices;
  readonly traceHeaders: Readonly<Record<string, string>>;
}

/** Works out what a generation owes: the provider's usage where it can be believed, else counted here. */
export async function billGeneration(
  ports: SettlePorts,
  scope: SettleScope,
  outcome: Outcome,
): Promise<Bill> {
  const { request, model, prices, head } = scope;
  const { choices } = outcome;
  const texts = outputTexts(choices);
  const maxCompletionTokens = request.maxOutputTokens * request.n;
  const believed = believedUsage(outcome.reportedUsage, {
    maxCompletionTokens,
    completions: request.n,
    contextLength: model.contextLength,
    producedOutput: texts.visible.length + texts.reasoning.length > 0,
  });
  let usage = believed;
  if (!usage) {
    // A stream that broke off has no usage block by nature; that is no news.
    if (outcome.ending === 'answered') {
      ports.observer.usageCounted(
        outcome.target,
        outcome.reportedUsage === undefined || outcome.reportedUsage === null ? 'missing' : 'not_believed',
      );
    }
    const [visible, reasoning] = await Promise.all([
      countOutput(ports.tokenCounter, texts.visible, model.tokenCounting),
      countOutput(ports.tokenCounter, texts.reasoning, model.tokenCounting),
    ]);
    if (visible.isEstimated || reasoning.isEstimated) ports.observer.usageEstimated(outcome.target);
    usage = countedUsage(
      request.estimatedInputTokens,
      visible.tokens + reasoning.tokens,
      reasoning.tokens,
      maxCompletionTokens,
    );
  }
  const { json, cost } = renderUsage(usage, prices);
  return {
    usage,
    usageSource: believed ? 'provider' : 'counted',
    usageJson: json,
    cost,
    finishReason: finishReasonOf(outcome),
    responseJson: () => renderCompletion(head, choices, json, outcome.systemFingerprint),
  };
}

/** Makes the end of a generation durable. */
export function recordGeneration(
  ports: SettlePorts,
  scope: SettleScope,
  outcome: Outcome,
  bill: Bill,
  responseJson: string | undefined,
): Promise<void> {
  const { provider, providerModel } = outcome.target;
  return ports.recorder.record({
    request: scope.request,
    prices: scope.prices,
    provider: provider.name,
    providerModel,
    ending: outcome.ending,
    finishReason: bill.finishReason,
    usage: bill.usage,
    usageSource: bill.usageSource,
    latencyMs: outcome.latencyMs,
    generationTimeMs: outcome.generationTimeMs,
    errorCode: outcome.errorCode,
    responseJson,
    traceHeaders: scope.traceHeaders,
  });
}

function finishReasonOf(outcome: Outcome): FinishedGeneration['finishReason'] {
  switch (outcome.ending) {
    case 'cancelled':
      return '';
    case 'failed':
      return 'error';
    case 'answered':
      return outcome.choices[0]?.finishReason ?? 'stop';
  }
}
