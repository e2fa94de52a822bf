import { checkTarget } from '@gateway/rpc/grpc';
import { z } from 'zod';

const target = z.string().superRefine((text, context) => {
  try {
    checkTarget(text);
  } catch (error) {
    context.addIssue((error as Error).message);
  }
});

const targetOf = (service: string) =>
  target.describe(
    `Address of ${service}: \`host:port\`, or several separated by commas. A name that resolves to several addresses stands for all of them.`,
  );

/** Addresses of the services, for those that call them. */
export const targets = {
  auth: { GATEWAY_AUTH_TARGET: targetOf('auth') },
  rateLimit: { GATEWAY_RATE_LIMIT_TARGET: targetOf('rate-limit') },
  billingLedger: { GATEWAY_BILLING_LEDGER_TARGET: targetOf('billing-ledger') },
  inferenceRouter: { GATEWAY_INFERENCE_ROUTER_TARGET: targetOf('inference-router') },
  generationQuery: { GATEWAY_GENERATION_QUERY_TARGET: targetOf('generation-query') },
  usageAggregator: { GATEWAY_USAGE_AGGREGATOR_TARGET: targetOf('usage-aggregator') },
};
