import {
  costOfUsage,
  maxPlausiblePromptTokens,
  nanoUsd,
  NO_USAGE,
  type NanoUsd,
  type Prices,
  type Usage,
} from '@gateway/base';
import type { ErrorCode } from '@gateway/errors';
import { targetKey, type Model, type Target } from '../catalogue/model-catalogue';
import type { ReportedUsage } from '../dialects/dialect';
import {
  outputTexts,
  renderCompletion,
  renderUsage,
  type Choice,
  type CompletionHead,
  type OutputTexts,
} from '../completion/completion';
import { renderEmbeddings } from '../completion/embeddings';
import type {
  FinishedGeneration,
  GenerationDurations,
  GenerationOutcome,
  GenerationRequest,
  ProviderAttempt,
  StoredResponse,
} from './finished-generation';
import type { ContentRecorder } from '../content-log/ports';
import type { GenerationRecorder, RouterObserver, TokenCounter } from '../ports';
import { countOutput } from './count-output';
import { checkUsage, countedUsage, mayBeTooLow, promptBySize, type UsageContext } from './usage';

export interface FinalizePorts {
  readonly tokenCounter: TokenCounter;
  readonly recorder: GenerationRecorder;
  readonly contents: ContentRecorder;
  readonly observer: RouterObserver;
  /** Targets that billed more output than they sent. Their streams hold the whole output limit. */
  readonly hiddenOutput: Set<string>;
}

/** The result of a generation, before it is billed. */
export interface GenerationResult {
  readonly outcome: GenerationOutcome;
  readonly errorCode: ErrorCode | undefined;
  /** Undefined when no provider responded, and nothing is owed. */
  readonly target: Target | undefined;
  readonly choices: readonly Choice[];
  /** Each as base64, in place of choices. */
  readonly embeddings: readonly string[] | undefined;
  /** The provider was stopped before the end of its output. */
  readonly isCut: boolean;
  /** Nothing was sent, and nothing is owed. */
  readonly isFree: boolean;
  /** The output that an elastic hold covers; undefined: the whole limit. */
  readonly heldOutputTokens: number | undefined;
  /** The most output tokens that were visible; undefined where they were not counted. */
  readonly visibleOutputTokens: number | undefined;
  /** The size of the request to the provider. */
  readonly sentBytes: number;
  readonly reportedUsage: ReportedUsage | undefined;
  readonly systemFingerprint: string | undefined;
  readonly durations: GenerationDurations;
  readonly attempts: readonly ProviderAttempt[];
}

export interface Bill {
  readonly usage: Usage;
  readonly usageSource: FinishedGeneration['usageSource'];
  readonly usageJson: object;
  readonly costNanoUsd: NanoUsd;
  /** The provider reports a prompt far above the estimate. */
  readonly exceedsEstimate: boolean;
  readonly finishReason: FinishedGeneration['finishReason'];
  /** Renders the chat.completion object, or the list of embeddings. */
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
  const { choices, target } = result;
  if (!target) return nothingOwed(result);
  const texts = outputTexts(choices);
  const { reportedUsage, heldOutputTokens } = result;
  const outputLimit = request.maxOutputTokens * request.n;
  const isTooLow = reportedUsage !== undefined && mayBeTooLow(reportedUsage, bytesOf(texts), outputLimit);
  const counted = isTooLow ? await countUsage(ports, scope, target, texts, heldOutputTokens) : undefined;
  const context: UsageContext = {
    input: { estimatedInputTokens: request.estimatedInputTokens, ...request.inputParts },
    maxCompletionTokens: result.isCut ? (heldOutputTokens ?? outputLimit) : outputLimit,
    heldCompletionTokens: heldOutputTokens,
    countedCompletionTokens: counted?.completionTokens,
    completions: request.n,
    maxPromptTokens: request.maxInputTokens,
    // The context length of an embedding model is that of one input.
    contextLength: request.embeddings ? Infinity : model.contextLength,
    isCut: result.isCut,
    producedOutput: texts.visible.length + texts.reasoning.length > 0,
  };
  const checked = checkUsage(reportedUsage, context);
  const exceedsEstimate =
    checked.kind === 'rejected' && checked.reported.promptTokens > maxPlausiblePromptTokens(context.input);
  const usage = result.isFree
    ? NO_USAGE
    : checked.kind === 'accepted'
      ? checked.usage
      : {
          ...(counted ?? (await countUsage(ports, scope, target, texts, heldOutputTokens))),
          ...(checked.kind === 'input_only' ? checked.input : {}),
          ...(exceedsEstimate
            ? {
                promptTokens: promptBySize(
                  checked.reported.promptTokens,
                  sentTextBytes(result, request),
                  context,
                ),
              }
            : {}),
        };
  if ((reportedUsage?.completionTokens ?? 0) > (result.visibleOutputTokens ?? Infinity))
    ports.hiddenOutput.add(targetKey(target));
  const { json, costNanoUsd } = renderUsage(usage, prices);
  // A failed or cancelled stream may have no report.
  if (checked.kind === 'missing' && !result.isCut) ports.observer.usageMissing(target);
  if (checked.kind === 'rejected') {
    ports.observer.usageRejected(target, {
      promptTokens: Math.max(0, checked.reported.promptTokens - usage.promptTokens),
      completionTokens: Math.max(0, checked.reported.completionTokens - usage.completionTokens),
      costNanoUsd: excessOf(costOfUsage(checked.reported, prices), costNanoUsd),
    });
  }
  return {
    usage,
    usageSource: checked.kind === 'accepted' ? 'provider' : 'counted',
    usageJson: json,
    costNanoUsd,
    exceedsEstimate,
    finishReason: finishReasonOf(result),
    responseJson: () =>
      result.embeddings
        ? renderEmbeddings(head, result.embeddings, usage, costNanoUsd)
        : renderCompletion(head, choices, json, result.systemFingerprint, UNFINISHED[result.outcome]),
  };
}

function nothingOwed(result: GenerationResult): Bill {
  return {
    usage: NO_USAGE,
    usageSource: undefined,
    usageJson: {},
    costNanoUsd: nanoUsd(0n),
    exceedsEstimate: false,
    finishReason: finishReasonOf(result),
    responseJson: () => '',
  };
}

async function countUsage(
  ports: FinalizePorts,
  { request, model }: GenerationScope,
  target: Target,
  texts: OutputTexts,
  heldOutputTokens: number | undefined,
): Promise<Usage> {
  const [visible, reasoning] = await Promise.all([
    countOutput(ports.tokenCounter, texts.visible, model.tokenCounting, request.organizationId),
    countOutput(ports.tokenCounter, texts.reasoning, model.tokenCounting, request.organizationId),
  ]);
  if (visible.isEstimated || reasoning.isEstimated) ports.observer.usageEstimated(target);
  return countedUsage(
    request.estimatedInputTokens,
    visible.tokens + reasoning.tokens,
    reasoning.tokens,
    Math.min(request.maxOutputTokens * request.n, heldOutputTokens ?? Infinity),
  );
}

function bytesOf({ visible, reasoning }: OutputTexts): number {
  let bytes = 0;
  for (const text of visible) bytes += Buffer.byteLength(text);
  for (const text of reasoning) bytes += Buffer.byteLength(text);
  return bytes;
}

const DATA_URL = /"data:[^"]*"/g;

/** The size of the request to the provider without its images, which dialects send as they are. */
function sentTextBytes({ sentBytes }: GenerationResult, { bodyJson, inputParts }: GenerationRequest): number {
  if (inputParts.images === 0) return sentBytes;
  const images = Buffer.from(bodyJson).toString('latin1').match(DATA_URL) ?? [];
  return Math.max(0, sentBytes - images.reduce((sum, { length }) => sum + length, 0));
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
  const last = result.attempts.at(-1);
  const cost = result.target?.cost;
  return ports.recorder.record({
    request: scope.request,
    prices: scope.prices,
    provider: last?.provider ?? '',
    providerModel: last?.providerModel ?? '',
    outcome: result.outcome,
    finishReason: bill.finishReason,
    usage: bill.usage,
    usageSource: bill.usageSource,
    providerCostNanoUsd: cost && costOfUsage(bill.usage, cost),
    durations: result.durations,
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
