import { implement, isoTime, type Implementation } from '@gateway/admin-calls';
import { auditOf, type AuditedChange, type Clock } from '@gateway/base';
import { DashboardError, endpoints } from '@gateway/dashboard-contract';
import { newId } from '@gateway/runtime';
import {
  DEFAULT_RETENTION_DAYS,
  type ContentLogSettings,
  type ContentStore,
  type StoredContent,
} from '../core/content-log/ports';

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The content log of a router with a secrets key. */
interface ContentLogPorts {
  readonly store: ContentStore;
  /** Called after a change, so that it takes effect in this process at once. */
  readonly refresh: () => Promise<void>;
}

export interface ContentLogEndpointPorts {
  /** Undefined without GATEWAY_SECRETS_KEY. */
  readonly contentLog: ContentLogPorts | undefined;
  readonly limits: ContentLogLimits;
  readonly clock: Clock;
}

export interface ContentLogLimits {
  readonly maxRetentionDays: number;
  /** The maximum size of a prompt, and of a response. */
  readonly maxBytes: number;
}

/** What owners of an organization do with its content log. */
export function createContentLogEndpoints({
  contentLog,
  limits: { maxRetentionDays, maxBytes },
  clock,
}: ContentLogEndpointPorts): readonly Implementation[] {
  const auditBy = (change: AuditedChange) => auditOf(change, { newId, clock });

  async function stateOf(organizationId: string) {
    const state = await contentLog?.store.state(organizationId);
    return {
      enabled: state?.enabled ?? false,
      has_contents: state?.hasContents ?? false,
      retention_days: Math.min(state?.retentionDays ?? DEFAULT_RETENTION_DAYS, maxRetentionDays),
      max_retention_days: maxRetentionDays,
      max_bytes: maxBytes,
      available: contentLog !== undefined,
    };
  }
  const { get, set, read, erase, eraseAll } = endpoints.contentLog;

  return [
    implement(get, async ({ params }) => ({
      content_log: await stateOf(params.organization_id),
    })),

    implement(set, async ({ params: { organization_id: organizationId }, body, actor }) => {
      const { enabled, retention_days: retentionDays, erase: erases = false } = body;
      if (retentionDays !== undefined && retentionDays > maxRetentionDays) {
        throw new DashboardError('invalid', {
          message: `retention_days must be from 1 to ${maxRetentionDays}.`,
          param: 'retention_days',
        });
      }
      if (!contentLog) {
        throw new DashboardError('conflict', {
          message:
            'The content log is unavailable: the platform has no key to encrypt it (GATEWAY_SECRETS_KEY of inference-router).',
        });
      }
      const change = { organizationId, enabled, retentionDays, erase: erases };
      await contentLog.store.set(change, (before, after) =>
        auditBy({
          actor,
          organizationId,
          action: 'content_log.set',
          target: organizationId,
          details: { changed: changedFields(before, after), erased: erases },
        }),
      );
      await contentLog.refresh();
      return { content_log: await stateOf(organizationId) };
    }),

    implement(eraseAll, async ({ params: { organization_id: organizationId }, actor }) => {
      const change = { actor, organizationId, action: 'content_log.erase', target: organizationId };
      await contentLog?.store.eraseAll(organizationId, auditBy({ ...change, details: { all: true } }));
      return undefined;
    }),

    implement(read, async ({ params: { organization_id: organizationId, generation_id: target }, actor }) => {
      const audit = auditBy({ actor, organizationId, action: 'content_log.read', target, details: {} });
      const found = ID.test(target) && (await contentLog?.store.read(organizationId, target, audit));
      if (!found) throw notStored();
      return { content: contentView(found) };
    }),

    implement(
      erase,
      async ({ params: { organization_id: organizationId, generation_id: target }, actor }) => {
        const change = { actor, organizationId, action: 'content_log.erase', target };
        const audit = auditBy({ ...change, details: { all: false } });
        const erased = ID.test(target) && (await contentLog?.store.eraseOne(organizationId, target, audit));
        if (!erased) throw notStored();
        return undefined;
      },
    ),
  ];
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

function contentView({ request, response, createdAt, expiresAt }: StoredContent) {
  return {
    request: request.text,
    request_cut: request.isCut,
    response: response?.text ?? null,
    response_cut: response?.isCut ?? false,
    created_at: isoTime(createdAt),
    expires_at: isoTime(expiresAt),
  };
}

function notStored(): DashboardError {
  return new DashboardError('not_found', {
    message: 'No prompt and response of this generation are stored.',
  });
}
