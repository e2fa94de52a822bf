import { isoTime, usd } from '@gateway/admin-calls';
import { parseUsd, utcDay, type ApiType, type UnixMs } from '@gateway/base';
import { Scope, type CreatedKey } from '@gateway/contracts/auth';
import { DashboardError, endpoints, parts, EDGE_CHANGE_TIMEOUT_MS } from '@gateway/dashboard-contract';
import { isRefusal } from '@gateway/errors';
import { apiTypeOfFormat, inferenceApis } from '@gateway/public-api';
import { implement, sessionOf, type Implementation } from '../http/implement';
import { unwrap } from '../messages/errors';
import { readModels } from '../known-models';
import type { DashboardApiPorts, DashboardApiSettings } from '../ports';

const KEY_LIFETIME_MS = 15 * 60 * 1_000;
const DEFAULT_BUDGET_NANO_USD = 1_000_000_000n;
const MAX_BUDGET_NANO_USD = 10_000_000_000n;

export function createPlaygroundHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { owners, authAdmin, inferenceRouter, estimateRequest, clock, settings } = ports;

  return [
    implement(endpoints.playground.models, async () => ({
      base_url: settings.publicApiUrl?.() ?? null,
      api_types: apiTypesOf(settings),
      ...(await owners['inference-router'].call(parts.models)),
    })),

    implement(endpoints.playground.createKey, async ({ params, body, signedIn }) => {
      const { session, member } = sessionOf(signedIn);
      const organizationId = params.organization_id;
      const requested = body.budget_usd ?? DEFAULT_BUDGET_NANO_USD;
      if (requested > MAX_BUDGET_NANO_USD) {
        throw new DashboardError('invalid', {
          message: 'budget_usd must be at most 10.',
          param: 'budget_usd',
        });
      }
      const { limits } = await owners.auth.call(parts.effectiveLimits, { params });
      // A key's budget cannot exceed the organization's.
      const bound = limits.daily_budget_usd === null ? undefined : parseUsd(limits.daily_budget_usd);
      const budget = bound !== undefined && bound < requested ? bound : requested;
      const now = clock.now();
      const creation = {
        organizationId,
        sessionId: session.id,
        lifetimeMs: KEY_LIFETIME_MS,
        settings: {
          name: `Playground: ${member.email}`.slice(0, 100),
          scopes: [Scope.SCOPE_CHAT, Scope.SCOPE_USAGE_READ],
          allowedModels: [],
          ipAllowlist: [],
          // For edges of an older version, which know only days. Close to midnight the key expires on the
          // next day.
          expiresOn: utcDay((now + KEY_LIFETIME_MS) as UnixMs),
          limits: {
            requestsPerMinute: undefined,
            tokensPerMinute: undefined,
            concurrency: undefined,
            dailyBudgetNanoUsd: budget,
          },
        },
      };
      const { outcome } = await authAdmin.createSessionKey(creation, { timeoutMs: EDGE_CHANGE_TIMEOUT_MS });
      const { key, secret } = unwrap<CreatedKey>(outcome);
      if (key?.expiresUnixMs === undefined) throw new Error('the response has no key or no expiry');
      return {
        key_id: key.id,
        secret,
        expires_at: isoTime(key.expiresUnixMs),
        budget_usd: usd(budget),
        base_url: settings.publicApiUrl?.() ?? '/v1',
      };
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
