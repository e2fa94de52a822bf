import { usd } from '@gateway/admin-calls';
import { parseUsd, type ApiType } from '@gateway/base';
import { DashboardError, endpoints, parts } from '@gateway/dashboard-contract';
import { isRefusal } from '@gateway/errors';
import { apiTypeOfFormat, inferenceApis } from '@gateway/public-api';
import { implement, type Implementation } from '../http/implement';
import { readModels } from '../known-models';
import type { DashboardApiPorts, DashboardApiSettings } from '../ports';

export function createPlaygroundHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, inferenceRouter, estimateRequest, settings } = ports;

  return [
    implement(endpoints.playground.models, async () => ({
      base_url: settings.publicApiUrl?.() ?? null,
      api_types: apiTypesOf(settings),
      ...(await owners['inference-router'].call(parts.models)),
    })),

    implement(endpoints.playground.createKey, async ({ params, sent }) => {
      const key = await owners.auth.call(parts.playgroundKey, { params, body: sent });
      return { ...key, base_url: settings.publicApiUrl?.() ?? '/v1' };
    }),

    implement(endpoints.playground.estimate, async ({ params, body }) => {
      if (!estimateRequest)
        throw new DashboardError('unavailable', { message: 'Cost estimates are not available.' });
      const [{ limits, target_rules: rules }, models, { balance }] = await Promise.all([
        owners.auth.call(parts.effectiveLimits, { params }),
        readModels(inferenceRouter),
        owners['billing-ledger'].call(endpoints.credit.balance, { params }),
      ]);
      const enabled = models.filter(({ disabled }) => !disabled);
      const estimate = await estimateRequest(body.request, {
        organizationId: params.organization_id,
        limits,
        targetRules: {
          allowedProviders: rules.allowed_providers,
          deniedProviders: rules.denied_providers,
          allowedRegions: rules.allowed_regions,
          deniedRegions: rules.denied_regions,
        },
        models: enabled,
      });
      if (isRefusal(estimate)) {
        const { message, param, code } = estimate;
        throw new DashboardError('invalid', {
          message,
          param: param === undefined ? 'request' : `request.${param}`,
          metadata: { code },
        });
      }
      return {
        estimated_input_tokens: estimate.estimatedInputTokens,
        max_output_tokens: estimate.maxOutputTokens,
        max_cost_usd: usd(estimate.heldCostNanoUsd),
        available_usd: balance.available_usd,
        affordable: estimate.heldCostNanoUsd <= (parseUsd(balance.available_usd) ?? 0n),
      };
    }),
  ];
}

function apiTypesOf({ inferenceApis: served = [] }: DashboardApiSettings): ApiType[] {
  return inferenceApis.filter((name) => name === 'chat' || served.includes(name)).map(apiTypeOfFormat);
}
