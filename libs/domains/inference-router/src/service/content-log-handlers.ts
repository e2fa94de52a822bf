import { auditOf, type AuditedChange, type Clock } from '@gateway/base';
import type { ContentLogDefinition, ContentLogState } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import { personOf, type CallContext, type RpcHandlers } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import type { ContentLogSettings, ContentStore, StoredContent } from '../core/content-log/ports';

const DEFAULT_RETENTION_DAYS = 7;
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The content log of a router with a secrets key. */
interface ContentLogPorts {
  readonly store: ContentStore;
  /** Called after a change, so that it takes effect in this process at once. */
  readonly refresh: () => Promise<void>;
}

export interface ContentLogHandlerPorts {
  /** Undefined without GATEWAY_SECRETS_KEY. */
  readonly contentLog: ContentLogPorts | undefined;
  readonly limits: ContentLogLimits;
  readonly clock: Clock;
}

export interface ContentLogLimits {
  readonly maxRetentionDays: number;
  /** Of a prompt and of a response. */
  readonly maxBytes: number;
}

/** What owners of an organization do with its content log. */
export function createContentLogHandlers({
  contentLog,
  limits: { maxRetentionDays, maxBytes },
  clock,
}: ContentLogHandlerPorts): RpcHandlers<typeof ContentLogDefinition> {
  const auditBy = (context: CallContext, change: Omit<AuditedChange, 'actor'>) =>
    auditOf({ ...change, actor: personOf(context) }, { newId, clock });

  const stateOf = (settings: ContentLogSettings | undefined): ContentLogState => ({
    enabled: settings?.enabled ?? false,
    retentionDays: Math.min(settings?.retentionDays ?? DEFAULT_RETENTION_DAYS, maxRetentionDays),
    maxRetentionDays,
    maxBytes,
    available: contentLog !== undefined,
  });

  return {
    async getContentLog({ organizationId }) {
      return {
        state: stateOf(await contentLog?.store.settings(requireId('organization_id', organizationId))),
      };
    },

    async setContentLog({ organizationId, enabled, retentionDays, erase }, context) {
      requireId('organization_id', organizationId);
      if (retentionDays < 1 || retentionDays > maxRetentionDays)
        throw invalid('retention_days', `retention_days must be from 1 to ${maxRetentionDays}.`);
      if (!contentLog) return { state: undefined };
      const settings = { enabled, retentionDays };
      await contentLog.store.set({ organizationId, ...settings, erase }, (before) =>
        auditBy(context, {
          organizationId,
          action: 'content_log.set',
          target: organizationId,
          details: { changed: changedFields(before, settings), erased: erase },
        }),
      );
      await contentLog.refresh();
      return { state: stateOf(settings) };
    },

    async readContent({ organizationId, generationId }, context) {
      requireId('organization_id', organizationId);
      if (!contentLog || !ID.test(generationId)) return { content: undefined };
      const action = 'content_log.read';
      const audit = auditBy(context, { organizationId, action, target: generationId, details: {} });
      return { content: contentMessage(await contentLog.store.read(organizationId, generationId, audit)) };
    },

    async eraseContent({ organizationId, generationId }, context) {
      requireId('organization_id', organizationId);
      const target = generationId ?? organizationId;
      if (!contentLog || !ID.test(target)) return { erased: false };
      const details = { all: generationId === undefined };
      const audit = auditBy(context, { organizationId, action: 'content_log.erase', target, details });
      if (generationId !== undefined)
        return { erased: await contentLog.store.eraseOne(organizationId, generationId, audit) };
      await contentLog.store.eraseAll(organizationId, audit);
      return { erased: true };
    },
  };
}

/** As the audit log shows changes. */
function changedFields(before: ContentLogSettings, after: ContentLogSettings) {
  return {
    ...(before.enabled !== after.enabled && {
      enabled: { before: before.enabled, after: after.enabled },
    }),
    ...(before.retentionDays !== after.retentionDays && {
      retention_days: { before: before.retentionDays, after: after.retentionDays },
    }),
  };
}

function contentMessage(content: StoredContent | undefined) {
  return (
    content && {
      request: content.request.text,
      requestCut: content.request.isCut,
      response: content.response?.text,
      responseCut: content.response?.isCut ?? false,
      createdUnixMs: BigInt(content.createdAt),
      expiresUnixMs: BigInt(content.expiresAt),
    }
  );
}

function requireId(param: string, id: string): string {
  if (ID.test(id)) return id;
  throw invalid(param, `${param} is not an id.`);
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { message, param });
}
