import { implement, type Implementation } from '@gateway/admin-calls';
import { auditOf, type Actor, type AuditedChange, type Clock, type UnixMs } from '@gateway/base';
import { endpoints } from '@gateway/dashboard-contract';
import { newId } from '@gateway/runtime';
import type {
  EntryChange,
  ManagedCatalogue,
  PublishOutcome,
  VersionSource,
} from '../core/catalogue/managed-catalogue';
import type { CatalogueSource, ProviderTransport, Timers } from '../core/ports';
import { testTarget } from '../core/provider/test-target';
import {
  conflict,
  draftConflict,
  invalid,
  invalidText,
  notFound,
  requireManaged,
  requireStorable,
} from './catalogue-refusals';
import { checkText, createCatalogueTextEndpoints } from './catalogue-text-endpoints';
import { changeView, draftView, routerView, secretView, versionView } from './catalogue-views';

const SECRET_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i;

/** Routers report every ten seconds. */
const ROUTERS_SEEN_MS = 60_000;
/** Names in an audit entry. */
const MAX_AUDITED_CHANGES = 50;

export interface CatalogueEndpointPorts {
  /** The active catalogue. */
  readonly catalogue: CatalogueSource;
  /** Undefined: the catalogue is a file. */
  readonly managed: ManagedCatalogue | undefined;
  readonly openTestTransport: () => ProviderTransport;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** Operators' changes of the catalogue in the database. */
export function createCatalogueEndpoints({
  catalogue,
  managed,
  clock,
  ...testPorts
}: CatalogueEndpointPorts): readonly Implementation[] {
  const authorOf = (actor: Actor) => ({ at: clock.now(), by: actor.label });
  const changeBy = (change: AuditedChange) => ({
    ...authorOf(change.actor),
    audit: auditOf(change, { newId, clock }),
  });

  /** The audit entry lists the changes, since versions are not part of the audit log. */
  async function publish(
    source: VersionSource,
    request: { readonly expected_version: number; readonly comment: string },
    actor: Actor,
  ) {
    const { store, texts } = requireManaged(managed);
    const { comment } = request;
    requireStorable('comment', comment);
    const before = (await store.readPublished()).version?.text ?? '';
    let changes: readonly EntryChange[] = [];
    const outcome = await store.publish(
      {
        source,
        comment,
        expectedVersion: request.expected_version,
        check(text, secrets) {
          const checked = texts.check(text, secrets);
          if (checked.ok) changes = texts.compare(before, text);
          return checked;
        },
      },
      {
        ...authorOf(actor),
        auditOf: (version) =>
          auditOf(
            {
              actor,
              action: source.kind === 'version' ? 'catalogue.roll_back' : 'catalogue.publish',
              target: `version ${version}`,
              details: {
                comment,
                ...(source.kind === 'version' && { restored_version: source.version }),
                changes: changes
                  .slice(0, MAX_AUDITED_CHANGES)
                  .map(({ change, kind, name }) => `${kind} ${name} ${change}`),
              },
            },
            { newId, clock },
          ),
      },
    );
    return { version: publishedOf(outcome) };
  }

  const endpointsOf = endpoints.catalogue;
  return [
    ...createCatalogueTextEndpoints(managed, clock),

    implement(endpointsOf.state, async () => {
      if (!managed) {
        const { text } = catalogue.status();
        return { source: 'file' as const, text, version: null, draft: null, secrets: [], routers: [] };
      }
      const { store, texts } = managed;
      const [{ version }, draft, secrets, routers] = await Promise.all([
        store.readPublished(),
        store.readDraft(),
        store.listSecrets(),
        store.listReports((clock.now() - ROUTERS_SEEN_MS) as UnixMs),
      ]);
      const used = texts.secretNames(version?.text ?? '');
      return {
        source: 'database' as const,
        text: version?.text ?? '',
        version: version ? versionView(version) : null,
        draft: draft ? draftView(draft) : null,
        secrets: secrets.map((secret) => secretView(secret, used.has(secret.name))),
        routers: routers.map(routerView),
      };
    }),

    implement(endpointsOf.versions, async ({ query }) => {
      if (!managed) return { data: [], next_page_token: null };
      const size = query.page_size;
      const before = versionOf(query.page_token) || undefined;
      const versions = await managed.store.listVersions({ limit: size + 1, before });
      const shown = versions.slice(0, size);
      const last = shown.at(-1);
      return {
        data: shown.map(versionView),
        next_page_token: versions.length > size && last ? String(last.version) : null,
      };
    }),

    implement(endpointsOf.version, async ({ params }) => {
      const version = versionOf(params.version) ?? 0;
      const found = await managed?.store.findVersion(version);
      if (!managed || !found) throw notFound('No such version.');
      const previous = await managed.store.findVersion(version - 1);
      const changes = managed.texts.compare(previous?.text ?? '', found.text);
      return { version: versionView(found), text: found.text, changes: changes.map(changeView) };
    }),

    implement(endpointsOf.saveDraft, async ({ body: { text, expected_revision: revision }, actor }) => {
      const { store } = requireManaged(managed);
      requireStorable('text', text);
      const change = changeBy({ actor, action: 'catalogue.save_draft', target: 'draft', details: {} });
      const draft = await store.saveDraft(text, revision, change);
      if (draft === 'conflict') throw draftConflict();
      return { draft: draftView(draft) };
    }),

    implement(endpointsOf.discardDraft, async ({ body: { expected_revision: revision }, actor }) => {
      const { store } = requireManaged(managed);
      const change = changeBy({ actor, action: 'catalogue.discard_draft', target: 'draft', details: {} });
      if ((await store.discardDraft(revision, change)) === 'conflict') throw draftConflict();
      return undefined;
    }),

    implement(endpointsOf.publish, ({ body, actor }) =>
      publish({ kind: 'draft', revision: body.draft_revision }, body, actor),
    ),

    implement(endpointsOf.rollBack, ({ body, actor }) =>
      publish({ kind: 'version', version: body.version }, body, actor),
    ),

    implement(endpointsOf.setSecret, async ({ body: { name, value }, actor }) => {
      const { store, texts } = requireManaged(managed);
      if (!SECRET_NAME.test(name)) {
        throw invalid(
          'name',
          'must have 1 to 63 letters, digits, dots, hyphens or underscores, and start with a letter or digit',
        );
      }
      const secret = value.trim();
      if (!/^[\x21-\x7e]+$/.test(secret)) {
        throw invalid('value', 'must be printable ASCII characters without spaces');
      }
      const change = changeBy({ actor, action: 'provider_secret.set', target: name, details: {} });
      const stored = await store.setSecret(name, secret, change);
      const used = texts.secretNames(catalogue.status().text).has(name);
      return { secret: secretView(stored, used) };
    }),

    implement(endpointsOf.deleteSecret, async ({ params: { secret_name: name }, actor }) => {
      const { store, texts } = requireManaged(managed);
      const change = changeBy({ actor, action: 'provider_secret.delete', target: name, details: {} });
      switch (await store.deleteSecret(name, (text) => texts.secretNames(text).has(name), change)) {
        case 'deleted':
          return undefined;
        case 'not_found':
          throw notFound('No such secret.');
        case 'in_use':
          throw conflict('The published version uses this secret.');
      }
    }),

    implement(endpointsOf.test, async ({ body: { text, model: modelId, target: index }, actor, signal }) => {
      const { store, texts } = requireManaged(managed);
      const { checked } = await checkText(requireManaged(managed), text);
      if (!checked.ok) throw invalidText(checked.issues);
      const model = checked.catalogue.models.get(modelId);
      const target = model?.targets[index];
      if (!model || !target) throw notFound('No such target.');
      const { provider, providerModel } = target;
      const url = new URL(provider.baseUrl);
      const sent = [...checked.secretOrigins].filter(([, origins]) => origins.has(url.origin));
      const foreign = await store.tieSecrets(new Map(sent));
      if (foreign.length > 0) throw invalidText(foreign);
      await store.writeAudit(
        changeBy({
          actor,
          action: 'target.test',
          target: `${provider.name}/${providerModel}`,
          details: { host: url.host },
        }).audit,
      );
      const { durationMs, error } = await testTarget(
        { ...testPorts, clock },
        { model, target, signal, showsErrorTexts: texts.isPresetHost(url) },
      );
      return { test: { duration_ms: durationMs, error: error ?? null } };
    }),
  ];
}

function versionOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function publishedOf(outcome: PublishOutcome) {
  switch (outcome.kind) {
    case 'published':
      return versionView(outcome.version);
    case 'conflict':
      throw conflict('The draft was changed, or another version was published, in the meantime.');
    case 'not_found':
      throw notFound('No such version.');
    case 'invalid':
      throw invalidText(outcome.issues);
  }
}
