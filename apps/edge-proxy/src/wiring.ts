import { AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { RateLimitDefinition } from '@gateway/contracts/rate-limit';
import {
  createEdgeProxyModule,
  createKeyDirectory,
  edgeProxySettingsOf,
  openBodyThreads,
} from '@gateway/edge-proxy';
import type { ServiceParts, ServiceWiring } from '@gateway/process';
import { createClient } from '@gateway/rpc';
import { newId, systemClock as clock } from '@gateway/runtime';
import { createTokenizer, MAX_TOKENIZED_LENGTH } from '@gateway/tokenizer';
import type { Config } from './config';

/** Long prompts that wait to be counted; the next is refused with `no_capacity`. */
const MAX_WAITING_COUNTS = 64;

export async function wireEdgeProxy({
  config,
  log,
  metrics,
  life,
  connect,
}: ServiceParts<Config>): Promise<ServiceWiring> {
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());
  const { GATEWAY_DASHBOARD_ORIGIN: dashboardOrigin } = config;
  const module = createEdgeProxyModule({
    keyDirectory: createKeyDirectory({
      auth: createClient(AuthDefinition, connect(config.GATEWAY_AUTH_TARGET)),
      edgeId: newId('edge'),
      clock,
      log,
      metrics,
    }),
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_WAITING_COUNTS }),
    bodyThreads: openBodyThreads({
      maxBodyBytes: config.GATEWAY_MAX_BODY_BYTES,
      maxTextLength: MAX_TOKENIZED_LENGTH,
    }),
    rateLimit: createClient(RateLimitDefinition, connect(config.GATEWAY_RATE_LIMIT_TARGET)),
    billingLedger: createClient(BillingLedgerDefinition, connect(config.GATEWAY_BILLING_LEDGER_TARGET)),
    inferenceRouter: createClient(InferenceRouterDefinition, connect(config.GATEWAY_INFERENCE_ROUTER_TARGET)),
    generationQuery: createClient(GenerationQueryDefinition, connect(config.GATEWAY_GENERATION_QUERY_TARGET)),
    clock,
    log,
    metrics,
    settings: {
      ...edgeProxySettingsOf(config),
      host: config.GATEWAY_HOST,
      corsOrigins: [...config.GATEWAY_CORS_ORIGINS, ...(dashboardOrigin ? [dashboardOrigin] : [])],
      stopGraceMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
    },
  });
  return { modules: [module] };
}
