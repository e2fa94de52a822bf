export { createInferenceRouterModule, DEFAULT_DRAIN_MS, type InferenceRouterPorts } from './service/module';
export { inferenceRouterEnvironment, requireSecretsKey } from './service/environment';
export { checkModelsFile, needsEmulator } from './adapters/yaml/models-file';
export { settleFromLog } from './service/settle-from-log';
export { createBreakerObserver } from './service/metrics';
export {
  createFileCatalogue,
  type FileCatalogue,
  type FileCatalogueOptions,
} from './adapters/yaml/file-catalogue';
export {
  CatalogueError,
  catalogueNeedsEmulator,
  EMULATOR_VARIABLE,
  parseCatalogue,
} from './adapters/yaml/parse-catalogue';
export { appendItem, NotABlockList } from './adapters/yaml/append-item';
export { priceTexts, renderPrices, statedPriceTexts } from './adapters/yaml/render-prices';
export type { Secrets } from './adapters/yaml/secrets';
export {
  createFileSpool,
  DEFAULT_MAX_SPOOL_BYTES,
  type FileSpoolOptions,
} from './adapters/file-system/file-spool';
export type { ModelFamily } from './core/dialects/converse/model-family';
export { dialectNames, dialects, hostsOf } from './core/dialects/registry';
export { presets, type PresetName } from './adapters/yaml/presets';
export { readSecretsFrom } from './adapters/node/secrets';
export { nodeTimers } from './adapters/node/timers';
export { createUndiciTransport } from './adapters/undici/undici-transport';
export {
  createOpossumBreakers,
  type BreakerObserver,
  type BreakerOptions,
} from './adapters/opossum/circuit-breakers';
export { createPostgresSwitchStore } from './adapters/postgres/switch-store';
export { INFERENCE_ROUTER_SCHEMA, inferenceRouterSchema } from './adapters/postgres/sql/schema';
export {
  compareCatalogue,
  type FindPriceData,
  type PriceData,
  type TargetComparison,
} from './core/price-data/compare-catalogue';
export { comparePrices, type PriceComparison, type PriceDifference } from './core/price-data/compare-prices';
export {
  priceNames,
  publishedPricesOf,
  type PriceName,
  type PriceRecords,
  type PublishedPrices,
} from './core/price-data/published-prices';
export { openInferenceRouterModule, type OpenInferenceRouterOptions } from './open-module';
