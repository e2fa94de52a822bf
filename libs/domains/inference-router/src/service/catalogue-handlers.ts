import { auditOf, type Actor, type AuditedChange, type Clock, type UnixMs } from '@gateway/base';
import { CatalogueRefusalReason, type CatalogueAdminDefinition } from '@gateway/contracts/inference-router';
import { actorOf, type CallContext, type RpcHandlers } from '@gateway/rpc';
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
  changeMessage,
  draftMessage,
  routerMessage,
  secretMessage,
  versionMessage,
} from './catalogue-messages';
import {
  DRAFT_CONFLICT,
  invalid,
  invalidText,
  NO_TARGET,
  NO_VERSION,
  READ_ONLY,
  refusal,
  refused,
  requireCatalogueText,
  requireManaged,
  requireText,
  VERSION_CONFLICT,
} from './catalogue-refusals';
import { checkText, createCatalogueTextHandlers } from './catalogue-text-handlers';

const MAX_COMMENT_CHARACTERS = 500;
const MAX_SECRET_CHARACTERS = 8_192;
const SECRET_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i;

const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;
/** Routers report every ten seconds. */
const ROUTERS_SEEN_MS = 60_000;
/** Names in an audit entry. */
const MAX_AUDITED_CHANGES = 50;

export interface CatalogueHandlerPorts {
  /** The active catalogue. */
  readonly catalogue: CatalogueSource;
  /** Undefined: the catalogue is a file. */
  readonly managed: ManagedCatalogue | undefined;
  readonly openTestTransport: () => ProviderTransport;
  readonly timers: Timers;
  readonly clock: Clock;
}

/** Operators' changes of the catalogue in the database. */
export function createCatalogueHandlers({
  catalogue,
  managed,
  clock,
  ...testPorts
}: CatalogueHandlerPorts): RpcHandlers<typeof CatalogueAdminDefinition> {
  const changeBy = (context: CallContext, change: Omit<AuditedChange, 'actor'>) => {
    const actor = actorOf(context);
    return { ...authorOf(actor), audit: auditOf({ ...change, actor }, { newId, clock }) };
  };
  const authorOf = (actor: Actor) => ({ at: clock.now(), by: actor.label });

  /** The audit entry lists the changes, since versions are not part of the audit log. */
  async function publish(
    source: VersionSource,
    request: { readonly expectedVersion: bigint; readonly comment: string },
    context: CallContext,
  ): Promise<PublishOutcome> {
    const { store, texts } = requireManaged(managed);
    const comment = requireText('comment', request.comment, MAX_COMMENT_CHARACTERS);
    const actor = actorOf(context);
    const before = (await store.readPublished()).version?.text ?? '';
    let changes: readonly EntryChange[] = [];
    return store.publish(
      {
        source,
        comment,
        expectedVersion: Number(request.expectedVersion),
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
  }

  return {
    ...createCatalogueTextHandlers(managed, clock),

    async getCatalogueState() {
      const { text } = catalogue.status();
      if (!managed) {
        return { source: 'file', text, version: undefined, draft: undefined, secrets: [], routers: [] };
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
        source: 'database',
        text: version?.text ?? '',
        version: version && versionMessage(version),
        draft: draft && draftMessage(draft),
        secrets: secrets.map((secret) => secretMessage(secret, used.has(secret.name))),
        routers: routers.map(routerMessage),
      };
    },

    async listCatalogueVersions({ pageSize, before }) {
      if (!managed) return { versions: [], hasMore: false };
      const size = Math.min(pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize, MAX_PAGE_SIZE);
      const page = { limit: size + 1, before: before === 0n ? undefined : Number(before) };
      const versions = await managed.store.listVersions(page);
      return { versions: versions.slice(0, size).map(versionMessage), hasMore: versions.length > size };
    },

    async getCatalogueVersion({ version }) {
      const found = await managed?.store.findVersion(Number(version));
      if (!managed || !found) return { version: undefined, text: '', changes: [] };
      const previous = await managed.store.findVersion(Number(version) - 1);
      const changes = managed.texts.compare(previous?.text ?? '', found.text);
      return { version: versionMessage(found), text: found.text, changes: changes.map(changeMessage) };
    },

    async saveCatalogueDraft({ text, expectedRevision }, context) {
      if (!managed) return refused(READ_ONLY);
      requireCatalogueText(text);
      const change = changeBy(context, { action: 'catalogue.save_draft', target: 'draft', details: {} });
      const draft = await managed.store.saveDraft(text, Number(expectedRevision), change);
      if (draft === 'conflict') return refused(DRAFT_CONFLICT);
      return { outcome: { $case: 'draft', value: draftMessage(draft) } };
    },

    async discardCatalogueDraft({ expectedRevision }, context) {
      if (!managed) return { refusal: READ_ONLY };
      const change = changeBy(context, { action: 'catalogue.discard_draft', target: 'draft', details: {} });
      const outcome = await managed.store.discardDraft(Number(expectedRevision), change);
      return { refusal: outcome === 'conflict' ? DRAFT_CONFLICT : undefined };
    },

    async publishCatalogue({ draftRevision, ...request }, context) {
      if (!managed) return refused(READ_ONLY);
      if (draftRevision === 0n) return refused(DRAFT_CONFLICT);
      return publishedOf(await publish({ kind: 'draft', revision: Number(draftRevision) }, request, context));
    },

    async rollBackCatalogue({ version, ...request }, context) {
      if (!managed) return refused(READ_ONLY);
      return publishedOf(await publish({ kind: 'version', version: Number(version) }, request, context));
    },

    async setProviderSecret({ name, value }, context) {
      if (!managed) return refused(READ_ONLY);
      if (!SECRET_NAME.test(name)) {
        throw invalid(
          'name',
          'must match [A-Za-z0-9._-], start with a letter or digit, and have at most 63 characters',
        );
      }
      const secret = value.trim();
      if (secret.length > MAX_SECRET_CHARACTERS || !/^[\x21-\x7e]+$/.test(secret)) {
        throw invalid(
          'value',
          `must be 1 to ${MAX_SECRET_CHARACTERS} printable ASCII characters without spaces`,
        );
      }
      const { store, texts } = managed;
      const change = changeBy(context, { action: 'provider_secret.set', target: name, details: {} });
      const stored = await store.setSecret(name, secret, change);
      const used = texts.secretNames(catalogue.status().text).has(name);
      return { outcome: { $case: 'secret', value: secretMessage(stored, used) } };
    },

    async deleteProviderSecret({ name }, context) {
      if (!managed) return { refusal: READ_ONLY };
      const { store, texts } = managed;
      const change = changeBy(context, { action: 'provider_secret.delete', target: name, details: {} });
      switch (await store.deleteSecret(name, (text) => texts.secretNames(text).has(name), change)) {
        case 'deleted':
          return { refusal: undefined };
        case 'not_found':
          return {
            refusal: refusal(CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND, 'No such secret.'),
          };
        case 'in_use':
          return {
            refusal: refusal(
              CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_IN_USE,
              'The published version uses this secret.',
            ),
          };
      }
    },

    async testTarget({ text, modelId, target: index }, context) {
      if (!managed) return refused(READ_ONLY);
      const { checked } = await checkText(managed, text);
      if (!checked.ok) return refused(invalidText(checked.issues));
      const model = checked.catalogue.models.get(modelId);
      const target = model?.targets[index];
      if (!model || !target) return refused(NO_TARGET);
      const { provider, providerModel } = target;
      const url = new URL(provider.baseUrl);
      const sent = [...checked.secretOrigins].filter(([, origins]) => origins.has(url.origin));
      const foreign = await managed.store.tieSecrets(new Map(sent));
      if (foreign.length > 0) return refused(invalidText(foreign));
      await managed.store.writeAudit(
        changeBy(context, {
          action: 'target.test',
          target: `${provider.name}/${providerModel}`,
          details: { host: url.host },
        }).audit,
      );
      const { durationMs, error } = await testTarget(
        { ...testPorts, clock },
        { model, target, signal: context.signal, showsErrorTexts: managed.texts.isPresetHost(url) },
      );
      return { outcome: { $case: 'test', value: { durationMs, error } } };
    },
  };
}

function publishedOf(outcome: PublishOutcome) {
  switch (outcome.kind) {
    case 'published':
      return { outcome: { $case: 'version' as const, value: versionMessage(outcome.version) } };
    case 'conflict':
      return refused(VERSION_CONFLICT);
    case 'not_found':
      return refused(NO_VERSION);
    case 'invalid':
      return refused(invalidText(outcome.issues));
  }
}
