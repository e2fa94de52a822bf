import { createAdminClient } from '@gateway/admin-calls';
import { AuditLogDefinition } from '@gateway/contracts/audit';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { openDashboardApi } from '@gateway/dashboard-api';
import { openActorSigner, type ServiceCommand, type ServiceDeps, type ServiceWiring } from '@gateway/process';
import { createActingTransport, createClient, type RpcTransport } from '@gateway/rpc';
import { createTokenizer } from '@gateway/tokenizer';
import type { Config } from './config';
import { listDeadLetters } from './dead-letters-command';

export async function wireDashboardApi({
  config,
  log,
  metrics,
  life,
  connect,
}: ServiceDeps<Config>): Promise<ServiceWiring> {
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());
  const signer = openActorSigner(config.GATEWAY_ACTOR_KEYS_DIR, 'dashboard-api');
  const connectActing = (audience: string, target: string): RpcTransport =>
    createActingTransport(connect(audience, target), { audience, signer });
  const auth = connectActing('auth', config.GATEWAY_AUTH_TARGET);
  const ledger = connectActing('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET);
  const router = connectActing('inference-router', config.GATEWAY_INFERENCE_ROUTER_TARGET);
  const usageAggregator = connectActing('usage-aggregator', config.GATEWAY_USAGE_AGGREGATOR_TARGET);
  const module = openDashboardApi({
    config,
    owners: {
      auth: createAdminClient(auth),
      'billing-ledger': createAdminClient(ledger),
      'generation-query': createAdminClient(
        connectActing('generation-query', config.GATEWAY_GENERATION_QUERY_TARGET),
      ),
      'inference-router': createAdminClient(router),
    },
    inferenceRouter: createClient(InferenceRouterDefinition, router),
    auditLogs: [auth, ledger, router, usageAggregator].map((each) => createClient(AuditLogDefinition, each)),
    deadLetters: new Map([
      ['billing-ledger', createClient(DeadLettersDefinition, ledger)],
      ['usage-aggregator', createClient(DeadLettersDefinition, usageAggregator)],
    ]),
    tokenizer,
    log,
    metrics,
  });
  return { modules: [module] };
}

/** `dead-letters list`, for the alert DeadLettersPending. */
export const deadLettersCommand: ServiceCommand<Config> = {
  argument: 'list',
  async run({ config, connect }, argument) {
    if (argument !== 'list') throw new Error(`unknown command: dead-letters ${argument}`);
    const services = [
      connect('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET),
      connect('usage-aggregator', config.GATEWAY_USAGE_AGGREGATOR_TARGET),
    ];
    return listDeadLetters(services.map((service) => createClient(DeadLettersDefinition, service)));
  },
};
