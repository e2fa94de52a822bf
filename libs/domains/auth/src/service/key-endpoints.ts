import type { CallActor } from '@gateway/actors';
import { implement, isoTime, pageView, usd, type Implementation } from '@gateway/admin-calls';
import {
  isIdLike,
  notFound,
  onFirstPage,
  readPage,
  readSearchText,
  type AdminRefusal,
} from '@gateway/auth-shared';
import { accepted, acceptedOrCurrent } from '@gateway/auth-shared/service';
import { nanoUsd, utcDay, type CancelSignal, type UnixMs } from '@gateway/base';
import { DashboardError, endpoints, parts, type BodyOf, type QueryOf } from '@gateway/dashboard-contract';
import { isRefusal } from '@gateway/errors';
import { refuseUnlessPermitted, type PermissionPorts } from '@gateway/people';
import type { KeyTarget } from '../core/keys/change-key';
import { createKey, type CreatedKey } from '../core/keys/create-key';
import { createSessionKey } from '../core/keys/create-session-key';
import { revokeKey } from '../core/keys/revoke-key';
import { endPreviousSecret, rotateKey } from '../core/keys/rotate-key';
import { transferKey } from '../core/keys/transfer-key';
import { updateKey } from '../core/keys/update-key';
import type { ApiKey, KeySettings } from '../core/model';
import { effectiveLimits } from '../core/organizations/limits';
import type { AuthPorts, KeyFilter, KeyIdentity } from '../core/ports';
import { findKeyOwner } from './find-key-owner';
import { keySettingsOf } from './key-settings';
import { timeEdgeWait, type AuthMetrics } from './metrics';
import { keyView, limitsView } from './views';

const FOR_SESSION = { standard: { forSession: false }, playground: { forSession: true }, all: {} } as const;

/** The shown end of a secret. */
const SHOWN_CHARACTERS = 4;

/** The keys found in all organizations. */
const MAX_FOUND = 20;

const PLAYGROUND_KEY_MS = 15 * 60 * 1_000;
const DEFAULT_PLAYGROUND_BUDGET_NANO_USD = nanoUsd(1_000_000_000n);
const MAX_PLAYGROUND_BUDGET_NANO_USD = nanoUsd(10_000_000_000n);

interface KeyCall {
  readonly params: { readonly organization_id: string; readonly key_id: string };
  readonly actor: CallActor;
  readonly isOperator: boolean;
  readonly signal: CancelSignal;
}

export function createKeyEndpoints(
  ports: AuthPorts,
  people: PermissionPorts,
  metrics: Pick<AuthMetrics, 'edgeWaitSeconds'>,
): readonly Implementation[] {
  const { keys } = endpoints;
  const viewOf = (key: ApiKey, { isOperator }: Pick<KeyCall, 'isOperator'>) =>
    keyView(key, { now: ports.clock.now(), isOperator });

  async function limitsOf(organizationId: string) {
    const found = isIdLike(organizationId) ? await ports.organizations.find(organizationId) : undefined;
    return effectiveLimits(accepted(found ?? notFound('organization')));
  }

  async function boundsOf(organizationId: string) {
    const limits = limitsView(await limitsOf(organizationId));
    const { max_output_tokens: _tokens, multiple_completions: _completions, ...bounds } = limits;
    return bounds;
  }

  async function find({
    organization_id: organizationId,
    key_id: keyId,
  }: KeyCall['params']): Promise<ApiKey> {
    const isKnown = isIdLike(organizationId) && isIdLike(keyId);
    return accepted((isKnown && (await ports.keys.find(organizationId, keyId))) || notFound('key'));
  }

  /** By its access, the endpoint changes at least the actor's own keys. */
  async function targetOf({ params, actor }: Pick<KeyCall, 'params' | 'actor'>): Promise<KeyTarget> {
    const { organization_id: organizationId, key_id: keyId } = params;
    const refusal = await refuseUnlessPermitted(people, actor, 'keys:manage', organizationId);
    return { actor, organizationId, keyId, onlyOwn: refusal !== undefined };
  }

  /** Once edges have applied the change. */
  async function changed(
    call: KeyCall,
    change: (ports: AuthPorts, target: KeyTarget, signal: CancelSignal) => Promise<ApiKey | AdminRefusal>,
  ) {
    const work = change(ports, await targetOf(call), call.signal);
    return { key: viewOf(accepted(await timeEdgeWait(metrics, work)), call) };
  }

  async function createdView(
    organizationId: string,
    { key, secret }: CreatedKey,
    call: Pick<KeyCall, 'isOperator'>,
  ) {
    return { key: viewOf(key, call), secret, bounds: await boundsOf(organizationId) };
  }

  async function update(call: KeyCall & { readonly body: BodyOf<typeof keys.update> }) {
    const { version: expectedVersion, ...changes } = call.body;
    const settingsOf = (current: KeySettings) => keySettingsOf(changes, current);
    const request = { ...(await targetOf(call)), settingsOf, expectedVersion };
    const result = await timeEdgeWait(metrics, updateKey(ports, request, call.signal));
    return acceptedOrCurrent(result, async () => viewOf(await find(call.params), call));
  }

  return [
    implement(parts.keys, async ({ params, query, actor, isOperator }) => {
      const { organization_id: organizationId } = params;
      const bounds = await boundsOf(organizationId);
      const filter = filterOf(query, actor);
      const now = ports.clock.now();
      const [page, total] = await Promise.all([
        readPage(query.page_size, query.page_token, (request) =>
          ports.keys.list(organizationId, request, filter, now),
        ),
        onFirstPage(query, () => ports.keys.count(organizationId, filter, now)),
      ]);
      const views = page.items.map((key) => viewOf(key, { isOperator }));
      return { ...pageView(views, page.nextPageToken), ...total, bounds };
    }),

    implement(endpoints.operator.findKeys, async ({ query }) => {
      const identity = keyIdentityOf(query.text.trim());
      const found = identity ? await ports.keys.findAnywhere(identity, MAX_FOUND) : [];
      return {
        data: found.map(({ key, organizationName }) => {
          const { id, name, last4, state } = viewOf(key, { isOperator: true });
          return { id, name, last4, state, organization: { id: key.organizationId, name: organizationName } };
        }),
      };
    }),

    implement(parts.key, async ({ params, isOperator }) => ({
      key: viewOf(await find(params), { isOperator }),
      bounds: await boundsOf(params.organization_id),
    })),

    implement(keys.create, async ({ params, body, actor, isOperator }) => {
      const { organization_id: organizationId } = params;
      const created = await createKey(ports, { actor, organizationId, settings: keySettingsOf(body) });
      return createdView(organizationId, accepted(created), { isOperator });
    }),

    implement(keys.update, async (call) => ({ key: viewOf(await update(call), call) })),

    implement(keys.revoke, (call) => changed(call, revokeKey)),

    implement(keys.transfer, (call) =>
      changed(call, async (_ports, target, signal) => {
        const owner = await findKeyOwner(people, target.organizationId, call.body.member_id);
        return isRefusal(owner) ? owner : transferKey(ports, { ...target, owner }, signal);
      }),
    ),

    implement(keys.rotate, async (call) => {
      const { previous_works_until: until, ends_now: endsNow } = call.body;
      const request = {
        ...(await targetOf(call)),
        ...(until !== null && { previousWorksUntil: Date.parse(until) as UnixMs }),
        ...(endsNow !== undefined && { endsNow }),
      };
      const rotated = await timeEdgeWait(metrics, rotateKey(ports, request, call.signal));
      return createdView(request.organizationId, accepted(rotated), call);
    }),

    implement(keys.endPreviousSecret, (call) => changed(call, endPreviousSecret)),

    implement(parts.playgroundKey, async ({ params, body, actor, signal }) => {
      const { organization_id: organizationId } = params;
      const requested = body.budget_usd ?? DEFAULT_PLAYGROUND_BUDGET_NANO_USD;
      if (requested > MAX_PLAYGROUND_BUDGET_NANO_USD) {
        const message = 'budget_usd must be at most 10.';
        throw new DashboardError('invalid', { message, param: 'budget_usd' });
      }
      // A key's budget cannot exceed the organization's.
      const { dailyBudgetNanoUsd: bound } = await limitsOf(organizationId);
      const dailyBudgetNanoUsd = bound !== undefined && bound < requested ? bound : requested;
      const wanted = {
        actor,
        organizationId,
        sessionId: actor.sessionId,
        lifetimeMs: PLAYGROUND_KEY_MS,
        settings: {
          name: `Playground: ${actor.label}`.slice(0, 100),
          scopes: ['chat', 'usage:read'] as const,
          allowedModels: [],
          ipAllowlist: [],
          jsonStreaming: false,
          // For edges of an older version, which know only days. Close to midnight the key expires on the next day.
          expiresOn: utcDay((ports.clock.now() + PLAYGROUND_KEY_MS) as UnixMs),
          limits: { dailyBudgetNanoUsd },
        },
      };
      const created = createSessionKey(ports, wanted, signal);
      const { key, secret } = accepted(await timeEdgeWait(metrics, created));
      if (key.expiresAt === undefined) throw new Error('a key of a session has no expiry');
      return {
        key_id: key.id,
        secret,
        expires_at: isoTime(key.expiresAt),
        budget_usd: usd(dailyBudgetNanoUsd),
      };
    }),
  ];
}

function filterOf(query: QueryOf<typeof parts.keys>, { id, tokenAccess }: CallActor): KeyFilter {
  const { project_id: projectId } = query;
  const search = readSearchText(query.search);
  const ids = query.ids?.split(',').filter(isIdLike);
  // A management token owns no keys.
  const ownerId = tokenAccess === undefined ? id : '';
  return {
    ...FOR_SESSION[query.kind],
    ...(query.state !== undefined && { state: query.state }),
    ...(search !== undefined && { search }),
    ...(ids && { ids }),
    ...(query.owner === 'me' && { ownerId }),
    ...(query.owner === 'left' && { ownerHasLeft: true as const }),
    ...(projectId !== undefined && { projectId: isIdLike(projectId) ? projectId : '' }),
  };
}

function keyIdentityOf(text: string): KeyIdentity | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return { sha256: Buffer.from(text, 'hex') };
  if (!isIdLike(text)) return undefined;
  return text.length === SHOWN_CHARACTERS ? { last4: text } : { id: text };
}
