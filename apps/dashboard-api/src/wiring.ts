import { AuthAdminDefinition } from '@gateway/contracts/auth';
import { BillingLedgerAdminDefinition, BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import { GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import {
  InferenceRouterAdminDefinition,
  InferenceRouterDefinition,
} from '@gateway/contracts/inference-router';
import { makeOperator, openDashboardApi } from '@gateway/dashboard-api';
import type { ServiceCommand, ServiceDeps, ServiceWiring } from '@gateway/process';
import { createClient } from '@gateway/rpc';
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
  const ledger = connect('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET);
  const router = connect('inference-router', config.GATEWAY_INFERENCE_ROUTER_TARGET);
  const usageAggregator = connect('usage-aggregator', config.GATEWAY_USAGE_AGGREGATOR_TARGET);
  const module = openDashboardApi({
    config,
    authAdmin: createClient(AuthAdminDefinition, connect('auth', config.GATEWAY_AUTH_TARGET)),
    ledger: createClient(BillingLedgerDefinition, ledger),
    ledgerAdmin: createClient(BillingLedgerAdminDefinition, ledger),
    generationReports: createClient(
      GenerationReportsDefinition,
      connect('generation-query', config.GATEWAY_GENERATION_QUERY_TARGET),
    ),
    inferenceRouter: createClient(InferenceRouterDefinition, router),
    routerAdmin: createClient(InferenceRouterAdminDefinition, router),
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

/** `operator EMAIL`: creates the first operator, or restores access when no operator can sign in. */
export const operatorCommand: ServiceCommand<Config> = {
  argument: 'EMAIL',
  async run({ config, connect }, email) {
    const { GATEWAY_DASHBOARD_ORIGIN: dashboardUrl } = config;
    if (dashboardUrl === undefined) throw new Error('Set GATEWAY_DASHBOARD_ORIGIN: the link points there.');
    const authAdmin = createClient(AuthAdminDefinition, connect('auth', config.GATEWAY_AUTH_TARGET));
    const { link, expiresUnixMs } = await makeOperator({ authAdmin, dashboardUrl }, email);
    const until = new Date(Number(expiresUnixMs)).toISOString();
    return `${email} is an operator. Choose a password at this link before ${until}:\n\n  ${link}`;
  },
};

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
