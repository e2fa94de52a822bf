import { checkTarget } from '@gateway/rpc/grpc';
import { z } from 'zod';

/** The address of a service: `host:port`, or several separated by commas. */
const target = z.string().superRefine((text, context) => {
  try {
    checkTarget(text);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

/** Settings for the addresses of services. A name must resolve to every replica. */
export const targets = {
  auth: { GATEWAY_AUTH_TARGET: target },
  rateLimit: { GATEWAY_RATE_LIMIT_TARGET: target },
  billingLedger: { GATEWAY_BILLING_LEDGER_TARGET: target },
  inferenceRouter: { GATEWAY_INFERENCE_ROUTER_TARGET: target },
  generationQuery: { GATEWAY_GENERATION_QUERY_TARGET: target },
  usageAggregator: { GATEWAY_USAGE_AGGREGATOR_TARGET: target },
};
