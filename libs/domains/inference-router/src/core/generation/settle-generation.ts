import { costOfUsage, nanoUsd, type NanoUsd, type Prices, type Usage } from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import type { Model, Target } from '../catalogue/model-catalogue';
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
} from './finished-generation';
import type { GenerationRecorder, RouterObserver, TokenCounter } from '../ports';
import { countOutput } from './count-output';
import { countedUsage, judgeUsage } from './usage';

export interface SettlePorts {
  readonly tokenCounter: TokenCounter;
  readonly recorder: GenerationRecorder;
  readonly observer: RouterObserver;
}

/** What a generation came to. */
export interface Outcome {
  readonly ending: CompletionOutcome;
  readonly errorCode: ErrorCode | undefined;
  readonly target: Target;
  readonly choices: readonly Choice[];
  readonly reportedUsage: unknown;
  readonly systemFingerprint: string | undefined;
  readonly latencyMs: number;
  readonly generationTimeMs: number;
  readonly timeToFirstTokenMs: number | undefined;
  readonly attempts: readonly ProviderAttempt[];
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
  const judged = judgeUsage(outcome.reportedUsage, {
    input: { estimatedInputTokens: request.estimatedInputTokens, ...request.inputParts },
    maxCompletionTokens: request.maxOutputTokens * request.n,
    completions: request.n,
    contextLength: model.contextLength,
    producedOutput: texts.visible.length + texts.reasoning.length > 0,
  });
  const usage = judged.kind === 'believed' ? judged.usage : await countUsage(ports, scope, outcome, texts);
  const { json, cost } = renderUsage(usage, prices);
  // A stream that broke off has no usage block by nature; that is no news.
  if (judged.kind === 'missing' && outcome.ending === 'answered') ports.observer.usageMissing(outcome.target);
  if (judged.kind === 'not_believed') {
    ports.observer.usageNotBelieved(outcome.target, {
      promptTokens: Math.max(0, judged.reported.promptTokens - usage.promptTokens),
      completionTokens: Math.max(0, judged.reported.completionTokens - usage.completionTokens),
      cost: excessOf(costOfUsage(judged.reported, prices), cost),
    });
  }
  return {
    usage,
    usageSource: judged.kind === 'believed' ? 'provider' : 'counted',
    usageJson: json,
    cost,
    finishReason: finishReasonOf(outcome),
    responseJson: () => renderCompletion(head, choices, json, outcome.systemFingerprint),
  };
}

async function countUsage(
  ports: SettlePorts,
  { request, model }: SettleScope,
  outcome: Outcome,
  texts: OutputTexts,
): Promise<Usage> {
  const [visible, reasoning] = await Promise.all([
    countOutput(ports.tokenCounter, texts.visible, model.tokenCounting),
    countOutput(ports.tokenCounter, texts.reasoning, model.tokenCounting),
  ]);
  if (visible.isEstimated || reasoning.isEstimated) ports.observer.usageEstimated(outcome.target);
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
    timeToFirstTokenMs: outcome.timeToFirstTokenMs,
    attempts: outcome.attempts,
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
