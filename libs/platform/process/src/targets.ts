import { checkTarget } from '@gateway/rpc/grpc';
import { z } from 'zod';

/** Where another service is: `host:port`, or several with commas between. */
const target = z.string().superRefine((text, context) => {
  try {
    checkTarget(text);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

/** Where each service is, for those that call it: a name that resolves to every replica. */
export const targets = {
  auth: { GATEWAY_AUTH_TARGET: target },
  rateLimit: { GATEWAY_RATE_LIMIT_TARGET: target },
  billingLedger: { GATEWAY_BILLING_LEDGER_TARGET: target },
  inferenceRouter: { GATEWAY_INFERENCE_ROUTER_TARGET: target },
  generationQuery: { GATEWAY_GENERATION_QUERY_TARGET: target },
  usageAggregator: { GATEWAY_USAGE_AGGREGATOR_TARGET: target },
};
