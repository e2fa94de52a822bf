import { isoTime, usd } from '@gateway/admin-calls';
import type { TokenPrices } from '@gateway/base';
import { placeOf, type Model, type Target } from '../core/catalogue/model-catalogue';
import type { CatalogueStatus } from '../core/ports';
import type { SwitchedOff } from '../core/resilience/switched-off';
import type { HealthFigures } from '../core/resilience/target-health';

export function statusView(version: number, status: CatalogueStatus) {
  const { file, sha256, loadedAt, rejected, publishedVersion } = status;
  return {
    version: version.toString(),
    file,
    published_version: publishedVersion ?? null,
    sha256,
    loaded_at: isoTime(loadedAt),
    rejected: rejected
      ? {
          since: isoTime(rejected.since),
          issues: rejected.issues.map(({ message, line }) => ({ message, line: line ?? null })),
        }
      : null,
  };
}

/** A model as customers see it. */
export function offeredModelView(model: Model) {
  return {
    id: model.id,
    name: model.name,
    owned_by: model.ownedBy,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    reasoning_efforts: model.reasoningEfforts,
    target_places: model.targets.map(placeOf).map(({ provider, region = null }) => ({ provider, region })),
    prices: {
      ...pricesView(model.prices),
      tiers: model.prices.tiers.map((tier) => ({
        above_prompt_tokens: tier.abovePromptTokens,
        ...pricesView(tier),
      })),
    },
  };
}

function pricesView(prices: TokenPrices) {
  return {
    input_usd_per_million: usd(prices.inputNanoUsdPerMillion),
    cached_input_usd_per_million: usd(prices.cachedInputNanoUsdPerMillion),
    cache_write_usd_per_million: usd(prices.cacheWriteNanoUsdPerMillion),
    cache_write_1h_usd_per_million: usd(prices.cacheWrite1hNanoUsdPerMillion),
    output_usd_per_million: usd(prices.outputNanoUsdPerMillion),
    reasoning_usd_per_million: usd(prices.reasoningNanoUsdPerMillion),
    image_usd_per_million: usd(prices.imageNanoUsdPerMillion),
  };
}

export function targetView({ provider, providerModel }: Target, drained: SwitchedOff | undefined) {
  return { provider: provider.name, provider_model: providerModel, drained: switchedOffView(drained) };
}

export function switchedOffView(off: SwitchedOff | undefined) {
  return off ? { since: isoTime(off.since), by: off.by, reason: off.reason } : null;
}

export function healthView({ calls, failures, firstEvent, inFlight }: HealthFigures) {
  return {
    calls,
    failures: [...failures.values()].reduce((sum, count) => sum + count, 0),
    failures_by_kind: Object.fromEntries(failures),
    first_event: firstEvent
      ? { mean_ms: firstEvent.meanMs, p50_ms: firstEvent.p50Ms, p95_ms: firstEvent.p95Ms }
      : null,
    calls_in_flight: inFlight,
  };
}
