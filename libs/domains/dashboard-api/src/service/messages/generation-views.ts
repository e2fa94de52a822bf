import { costByKind } from '@gateway/base';
import type { LedgerEntry } from '@gateway/contracts/billing-ledger';
import { UsageSource } from '@gateway/contracts/common';
import {
  GenerationStatus,
  type GenerationRecord,
  type RefusedRequest,
} from '@gateway/contracts/generation-query';
import { isoTime, usd } from './views';

export const GENERATION_STATUSES = {
  completed: GenerationStatus.GENERATION_STATUS_COMPLETED,
  cancelled: GenerationStatus.GENERATION_STATUS_CANCELLED,
  failed: GenerationStatus.GENERATION_STATUS_FAILED,
} as const;

type Status = keyof typeof GENERATION_STATUSES;

const NO_USAGE = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  imageTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

export function generationSummaryView(record: GenerationRecord) {
  const { generation } = record;
  if (!generation) throw new Error('the record has no generation');
  return {
    id: generation.id,
    created_at: isoTime(generation.createdUnixMs),
    model_id: generation.modelId,
    key_id: generation.keyId,
    request_id: generation.requestId,
    external_user: generation.externalUser ?? null,
    status: statusView(record.status),
    finish_reason: generation.finishReason === '' ? null : generation.finishReason,
    error_code: generation.errorCode ?? null,
    streamed: generation.streamed,
    cost_usd: usd(generation.costNanoUsd),
    charged_usd: usd(generation.chargedNanoUsd),
    duration_ms: generation.latencyMs + generation.generationTimeMs,
    time_to_first_token_ms: record.timeToFirstTokenMs ?? null,
    prompt_tokens: generation.usage?.promptTokens ?? 0,
    completion_tokens: generation.usage?.completionTokens ?? 0,
  };
}

export function generationDetailView(
  record: GenerationRecord,
  {
    entries,
    showsTargets,
  }: { readonly entries: readonly LedgerEntry[] | undefined; readonly showsTargets: boolean },
) {
  const { generation, prices, attempts } = record;
  const usage = generation?.usage ?? NO_USAGE;
  return {
    ...generationSummaryView(record),
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    image_tokens: usage.imageTokens,
    reasoning_tokens: usage.reasoningTokens,
    settled_at: isoTime(record.settledUnixMs),
    usage_source: sourceView(generation?.usageSource),
    latency_ms: generation?.latencyMs ?? 0,
    generation_time_ms: generation?.generationTimeMs ?? 0,
    cost_by_kind: prices
      ? costByKind(usage, prices).map(({ kind, tokens, priceNanoUsdPerMillion, costNanoUsd }) => ({
          kind,
          tokens,
          price_usd_per_million: usd(priceNanoUsdPerMillion),
          cost_usd: usd(costNanoUsd),
        }))
      : null,
    attempts:
      attempts.length === 0
        ? null
        : attempts.map(({ provider, providerModel, reason, outcome, durationMs }) => ({
            provider,
            provider_model: showsTargets ? providerModel : null,
            reason,
            outcome,
            duration_ms: durationMs,
          })),
    ledger_entries: entries?.map(ledgerEntryView) ?? null,
  };
}

export function refusedRequestView(request: RefusedRequest) {
  return {
    request_id: request.requestId,
    refused_at: isoTime(request.refusedUnixMs),
    key_id: request.keyId,
    model: request.model === '' ? null : request.model,
    error_code: request.errorCode,
    error_message: request.errorMessage,
  };
}

function statusView(status: GenerationStatus): Status {
  const found = (Object.keys(GENERATION_STATUSES) as Status[]).find(
    (name) => GENERATION_STATUSES[name] === status,
  );
  if (!found) throw new Error(`unknown status of a generation: ${status}`);
  return found;
}

function sourceView(source: UsageSource | undefined): 'provider' | 'counted' | null {
  if (source === UsageSource.USAGE_SOURCE_PROVIDER) return 'provider';
  return source === UsageSource.USAGE_SOURCE_COUNTED ? 'counted' : null;
}

const ENTRY_KINDS = ['credit', 'correction', 'hold', 'extension', 'settlement', 'void'] as const;

function ledgerEntryView(entry: LedgerEntry) {
  const kind = ENTRY_KINDS.find((name) => name === entry.kind);
  if (!kind) throw new Error(`unknown kind of a ledger entry: ${entry.kind}`);
  return {
    kind,
    posted_at: isoTime(entry.postedUnixMs),
    credit_usd: usd(entry.creditNanoUsd),
    held_usd: usd(entry.heldNanoUsd),
    revenue_usd: usd(entry.revenueNanoUsd),
    uncollected_usd: usd(-entry.uncollectedNanoUsd),
  };
}
