import { formatUsd, nanoUsd } from '@gateway/base';
import { endpoints } from '@gateway/dashboard-contract';
import { GatewayError } from '@gateway/errors';
import { RpcError } from '@gateway/rpc';
import { audited } from '../audited';
import { DashboardError } from '../dashboard-error';
import { implement, type Implementation } from '../http/implement';
import { creditAlertView } from '../messages/credit-views';
import type { DashboardApiPorts } from '../ports';

/** A test waits for its deliveries. */
const TEST_TIMEOUT_MS = 25_000;

export function createCreditAlertHandlers(ports: DashboardApiPorts): readonly Implementation[] {
  const { ledgerAdmin } = ports;
  return [
    implement(endpoints.credit.alert, async ({ params }) => {
      const { alert } = await ledgerAdmin.getCreditAlert({ organizationId: params.organization_id });
      return { alert: creditAlertView(alert) };
    }),

    implement(endpoints.credit.setAlert, async ({ params, body, actor }) => {
      const organizationId = params.organization_id;
      const { threshold_usd: thresholdNanoUsd, webhook_url: webhookUrl, emails } = body;
      const { alert, webhookSecret } = await audited(
        ports,
        {
          actor,
          organizationId,
          action: 'credit_alert.set',
          target: organizationId,
          details: {
            threshold_usd: thresholdNanoUsd === null ? null : formatUsd(nanoUsd(thresholdNanoUsd)),
            // The path of a webhook URL may be a secret.
            webhook_host: hostOf(webhookUrl),
            emails,
          },
        },
        () =>
          ledgerAdmin
            .setCreditAlert({
              organizationId,
              thresholdNanoUsd: thresholdNanoUsd ?? undefined,
              webhookUrl: webhookUrl ?? undefined,
              emails,
            })
            .catch((error: unknown) => {
              throw refusalOf(error);
            }),
      );
      return { alert: creditAlertView(alert), webhook_secret: webhookSecret ?? null };
    }),

    implement(endpoints.credit.testAlert, async ({ params, actor }) => {
      const organizationId = params.organization_id;
      return audited(
        ports,
        { actor, organizationId, action: 'credit_alert.test', target: organizationId, details: {} },
        async () => {
          const { hasRecipient, failure } = await ledgerAdmin.testCreditAlert(
            { organizationId },
            { timeoutMs: TEST_TIMEOUT_MS },
          );
          if (!hasRecipient) {
            throw new DashboardError('conflict', {
              message: 'The alert has no recipients. Add a webhook or an email address first.',
            });
          }
          return { delivered: failure === undefined, failure: failure ?? null };
        },
      );
    }),
  ];
}

function hostOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}

/** Maps a definite refusal, so that the audit entry is `failed`. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error instanceof RpcError || error.code !== 'invalid_request')
    return error;
  const { message, param } = error;
  return new DashboardError('invalid', { message, ...(param === undefined ? {} : { param }), cause: error });
}
