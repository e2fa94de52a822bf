import { isoTime, usd } from '@gateway/admin-calls';
import type { TokenPrices } from '@gateway/base';
import type { Prices } from '@gateway/contracts/common';
import type {
  CatalogueModel,
  Drained,
  GetCatalogueResponse,
  GetProviderHealthResponse,
  Model,
  ModelTarget,
  SwitchedOff,
  TargetHealth,
} from '@gateway/contracts/inference-router';

export function catalogueView(catalogue: GetCatalogueResponse) {
  const { refused: rejected } = catalogue;
  return {
    version: catalogue.version.toString(),
    file: catalogue.file,
    published_version: catalogue.publishedVersion === undefined ? null : Number(catalogue.publishedVersion),
    sha256: catalogue.sha256,
    loaded_at: isoTime(catalogue.loadedUnixMs),
    rejected: rejected
      ? {
          since: isoTime(rejected.sinceUnixMs),
          issues: rejected.issues.map(({ message, line }) => ({ message, line: line ?? null })),
        }
      : null,
    models: catalogue.models.map(catalogueModelView),
  };
}

export function catalogueModelView({ model, targets, disabledInFile, switchedOff }: CatalogueModel) {
  if (!model) throw new Error('the catalogue entry has no model');
  return {
    ...offeredModelView(model),
    disabled: model.disabled,
    disabled_in_file: disabledInFile,
    switched_off: switchedOffView(switchedOff),
    targets: targets.map(targetView),
  };
}

export function offeredModelView(model: Model) {
  return {
    id: model.id,
    name: model.name,
    owned_by: model.ownedBy,
    context_length: model.contextLength,
    max_output_tokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    reasoning_efforts: model.reasoningEfforts,
    target_places: model.targetPlaces.map(({ provider, region = null }) => ({ provider, region })),
    prices: pricesView(model.prices),
  };
}

function pricesView(prices: Prices | undefined) {
  if (!prices) throw new Error('the model has no prices');
  return {
    ...tokenPricesView(prices),
    tiers: prices.tiers.map((tier) => ({
      above_prompt_tokens: tier.abovePromptTokens,
      ...tokenPricesView(tier),
    })),
  };
}

function tokenPricesView(prices: TokenPrices) {
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

export function targetView({ provider, providerModel, drained }: ModelTarget) {
  return {
    provider,
    provider_model: providerModel,
    drained: switchedOffView(drained),
  };
}

function switchedOffView(off: Drained | SwitchedOff | undefined) {
  return off ? { since: isoTime(off.sinceUnixMs), by: off.by, reason: off.reason } : null;
}

export function providerHealthView(health: GetProviderHealthResponse, now: bigint) {
  return {
    window_ms: health.windowMs,
    observed_at: isoTime(now),
    instance: health.observer,
    providers: health.providers.map(({ name, callsInFlight, maxConcurrent }) => ({
      name,
      calls_in_flight: callsInFlight,
      max_concurrent: maxConcurrent,
    })),
    targets: health.targets.map(targetHealthView),
  };
}

const BREAKERS = ['closed', 'half_open', 'open'] as const;

function targetHealthView(health: TargetHealth) {
  const breaker = BREAKERS.find((state) => state === health.breaker);
  if (!health.target || !breaker) throw new Error('the target health is incomplete');
  const { firstEvent } = health;
  return {
    ...targetView(health.target),
    breaker,
    open_for_organizations: health.organizationsOpen,
    calls: health.calls,
    failures: Object.values(health.failures).reduce((sum, count) => sum + count, 0),
    failures_by_kind: health.failures,
    first_event: firstEvent
      ? { mean_ms: firstEvent.meanMs, p50_ms: firstEvent.p50Ms, p95_ms: firstEvent.p95Ms }
      : null,
    calls_in_flight: health.callsInFlight,
    models: health.modelIds,
  };
}
