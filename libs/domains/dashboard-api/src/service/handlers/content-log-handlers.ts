import { isoTime } from '@gateway/admin-calls';
import type { ContentLogState } from '@gateway/contracts/inference-router';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import type { DashboardApiPorts } from '../ports';

/** An erasure deletes row by row. */
const ERASE_TIMEOUT_MS = 60_000;

export function createContentLogHandlers({ contentLog: log }: DashboardApiPorts): readonly Implementation[] {
  const { contentLog } = endpoints;
  return [
    implement(contentLog.get, async ({ params }) => {
      const { state } = await log.getContentLog({ organizationId: params.organization_id });
      return { content_log: stateView(state) };
    }),

    implement(contentLog.set, async ({ params, body }) => {
      const { state } = await log.setContentLog(
        {
          organizationId: params.organization_id,
          enabled: body.enabled,
          retentionDays: body.retention_days,
          erase: body.erase ?? false,
        },
        { timeoutMs: ERASE_TIMEOUT_MS },
      );
      if (state) return { content_log: stateView(state) };
      throw new DashboardError('conflict', {
        message:
          'The content log is unavailable: the platform has no key to encrypt it (GATEWAY_SECRETS_KEY of inference-router).',
      });
    }),

    implement(contentLog.eraseAll, async ({ params }) => {
      const request = { organizationId: params.organization_id, generationId: undefined };
      await log.eraseContent(request, { timeoutMs: ERASE_TIMEOUT_MS });
      return undefined;
    }),

    implement(contentLog.read, async ({ params }) => {
      const { content } = await log.readContent({
        organizationId: params.organization_id,
        generationId: params.generation_id,
      });
      if (!content) throw notStored();
      return {
        content: {
          request: content.request,
          request_cut: content.requestCut,
          response: content.response ?? null,
          response_cut: content.responseCut,
          created_at: isoTime(content.createdUnixMs),
          expires_at: isoTime(content.expiresUnixMs),
        },
      };
    }),

    implement(contentLog.erase, async ({ params }) => {
      const { erased } = await log.eraseContent({
        organizationId: params.organization_id,
        generationId: params.generation_id,
      });
      if (!erased) throw notStored();
      return undefined;
    }),
  ];
}

function notStored(): DashboardError {
  return new DashboardError('not_found', {
    message: 'No prompt and response of this generation are stored.',
  });
}

function stateView(state: ContentLogState | undefined) {
  if (!state) throw new Error('the response has no content log');
  return {
    enabled: state.enabled,
    retention_days: state.retentionDays,
    max_retention_days: state.maxRetentionDays,
    max_bytes: state.maxBytes,
    available: state.available,
  };
}
