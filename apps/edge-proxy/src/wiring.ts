import { AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import { UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { openEdgeProxyModule } from '@gateway/edge-proxy';
import type { ServiceDeps, ServiceWiring } from '@gateway/process';
import { createClient, createClientOfEachServer } from '@gateway/rpc';
import { createTokenizer } from '@gateway/tokenizer';
import type { Config } from './config';

export async function wireEdgeProxy({
  config,
  log,
  metrics,
  life,
  connect,
}: ServiceDeps<Config>): Promise<ServiceWiring> {
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());
  const { GATEWAY_DASHBOARD_ORIGIN: dashboardOrigin } = config;
  const routers = connect('inference-router', config.GATEWAY_INFERENCE_ROUTER_TARGET);
  const module = openEdgeProxyModule({
    config,
    auth: createClient(AuthDefinition, connect('auth', config.GATEWAY_AUTH_TARGET)),
    rateLimit: createClient(RateLimitDefinition, connect('rate-limit', config.GATEWAY_RATE_LIMIT_TARGET)),
    billingLedger: createClient(
      BillingLedgerDefinition,
      connect('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET),
    ),
    inferenceRouter: createClient(InferenceRouterDefinition, routers),
    everyInferenceRouter: () => createClientOfEachServer(InferenceRouterDefinition, routers),
    generationQuery: createClient(
      GenerationQueryDefinition,
      connect('generation-query', config.GATEWAY_GENERATION_QUERY_TARGET),
    ),
    usageAggregator: createClient(
      UsageAggregatorDefinition,
      connect('usage-aggregator', config.GATEWAY_USAGE_AGGREGATOR_TARGET),
    ),
    tokenizer,
    log,
    metrics,
    settings: {
      corsOrigins: [...config.GATEWAY_CORS_ORIGINS, ...(dashboardOrigin ? [dashboardOrigin] : [])],
    },
  });
  return { modules: [module] };
}
