import {
  CatalogueRefusalReason,
  type CatalogueChange,
  type CatalogueRefusal,
} from '@gateway/contracts/inference-router';
import { DashboardError, type DashboardErrorCode, endpoints, parts } from '@gateway/dashboard-contract';
import { implement, type Implementation } from '../http/implement';
import {
  catalogueChangeView,
  catalogueDraftView,
  catalogueFieldsView,
  catalogueIssueView,
  catalogueRouterView,
  catalogueVersionView,
  providerSecretView,
  publishedModelView,
} from '../messages/catalogue-views';
import type { DashboardApiPorts } from '../ports';

/** A test of a target waits for the provider. */
const TEST_TIMEOUT_MS = 15_000;
const MAX_AFFECTED_MODELS = 200;

export function createCatalogueHandlers({
  catalogueAdmin,
  owners,
  log,
}: DashboardApiPorts): readonly Implementation[] {
  /** Null when usage is unavailable: a change is published during an incident, too. */
  async function affectedBy(changes: readonly CatalogueChange[]) {
    const modelIds = changes
      .filter(({ kind, change }) => kind === 'model' && change !== 'added')
      .map(({ name }) => name)
      .slice(0, MAX_AFFECTED_MODELS);
    if (modelIds.length === 0) return [];
    try {
      const query = { model_ids: modelIds };
      return (await owners['generation-query'].call(parts.modelUse, { query })).data;
    } catch (error) {
      log.warn({ err: error }, 'the use of changed models is unavailable');
      return null;
    }
  }

  return [
    implement(endpoints.catalogue.state, async () => {
      const { source, text, version, draft, secrets, routers } = await catalogueAdmin.getCatalogueState({});
      return {
        source: source === 'database' ? ('database' as const) : ('file' as const),
        text,
        version: version ? catalogueVersionView(version) : null,
        draft: draft ? catalogueDraftView(draft) : null,
        secrets: secrets.map(providerSecretView),
        routers: routers.map(catalogueRouterView),
      };
    }),

    implement(endpoints.catalogue.export, async ({ response }) => {
      const { text } = await catalogueAdmin.getCatalogueState({});
      response.setHeader('content-disposition', 'attachment; filename="models.yaml"');
      response.type('application/yaml').send(text);
      return undefined;
    }),

    implement(endpoints.catalogue.versions, async ({ query }) => {
      const { versions, hasMore } = await catalogueAdmin.listCatalogueVersions({
        pageSize: query.page_size,
        before: versionOf(query.page_token) ?? 0n,
      });
      const last = versions.at(-1);
      return {
        data: versions.map(catalogueVersionView),
        next_page_token: hasMore && last ? last.version.toString() : null,
      };
    }),

    implement(endpoints.catalogue.version, async ({ params }) => {
      const { version, text, changes } = await catalogueAdmin.getCatalogueVersion({
        version: versionOf(params.version) ?? 0n,
      });
      if (!version) throw new DashboardError('not_found', { message: 'No such version.' });
      return { version: catalogueVersionView(version), text, changes: changes.map(catalogueChangeView) };
    }),

    implement(endpoints.catalogue.check, async ({ body }) => {
      const { issues, changes } = await catalogueAdmin.checkCatalogue({ text: body.text });
      return {
        issues: issues.map(catalogueIssueView),
        changes: changes.map(catalogueChangeView),
        affected: await affectedBy(changes),
      };
    }),

    implement(endpoints.catalogue.entries, async ({ body }) => {
      const { providersJson, modelsJson, schemaJson } = await catalogueAdmin.listCatalogueEntries(body);
      return {
        providers: providersJson.map(catalogueFieldsView),
        models: modelsJson.map(catalogueFieldsView),
        schema: catalogueFieldsView(schemaJson),
      };
    }),

    implement(endpoints.catalogue.editEntry, async ({ body }) => {
      const { text, kind, index, entry } = body;
      const { outcome } = await catalogueAdmin.editCatalogueEntry({
        text,
        kind,
        index: index ?? undefined,
        entryJson: entry === null ? undefined : JSON.stringify(entry),
      });
      return { text: unwrap(outcome) };
    }),

    implement(endpoints.catalogue.saveDraft, async ({ body }) => {
      const { outcome } = await catalogueAdmin.saveCatalogueDraft({
        text: body.text,
        expectedRevision: BigInt(body.expected_revision),
      });
      return { draft: catalogueDraftView(unwrap(outcome)) };
    }),

    implement(endpoints.catalogue.discardDraft, async ({ body }) => {
      const { refusal } = await catalogueAdmin.discardCatalogueDraft({
        expectedRevision: BigInt(body.expected_revision),
      });
      if (refusal) throw refusalError(refusal);
      return undefined;
    }),

    implement(endpoints.catalogue.publish, async ({ body }) => {
      const { outcome } = await catalogueAdmin.publishCatalogue({
        draftRevision: BigInt(body.draft_revision),
        expectedVersion: BigInt(body.expected_version),
        comment: body.comment,
      });
      return { version: catalogueVersionView(unwrap(outcome)) };
    }),

    implement(endpoints.catalogue.rollBack, async ({ body }) => {
      const { outcome } = await catalogueAdmin.rollBackCatalogue({
        version: BigInt(body.version),
        expectedVersion: BigInt(body.expected_version),
        comment: body.comment,
      });
      return { version: catalogueVersionView(unwrap(outcome)) };
    }),

    implement(endpoints.catalogue.setSecret, async ({ body }) => {
      const { outcome } = await catalogueAdmin.setProviderSecret(body);
      return { secret: providerSecretView(unwrap(outcome)) };
    }),

    implement(endpoints.catalogue.deleteSecret, async ({ params }) => {
      const { refusal } = await catalogueAdmin.deleteProviderSecret({ name: params.secret_name });
      if (refusal) throw refusalError(refusal);
      return undefined;
    }),

    implement(endpoints.catalogue.proposePrices, async ({ body }) => {
      const { outcome } = await catalogueAdmin.proposePrices({
        text: body.text,
        marginPercent: body.margin_percent,
      });
      const { text, changedModels, notes, newModels } = unwrap(outcome);
      return { text, changed_models: changedModels, notes, new_models: newModels.map(publishedModelView) };
    }),

    implement(endpoints.catalogue.test, async ({ body }) => {
      const { text, model: modelId, target } = body;
      const { outcome } = await catalogueAdmin.testTarget(
        { text, modelId, target },
        { timeoutMs: TEST_TIMEOUT_MS },
      );
      const { durationMs, error } = unwrap(outcome);
      return { test: { duration_ms: durationMs, error: error ?? null } };
    }),
  ];
}

function versionOf(text: string): bigint | undefined {
  return /^\d{1,15}$/.test(text) ? BigInt(text) : undefined;
}

const CODE_OF_REASON: Readonly<Record<CatalogueRefusalReason, DashboardErrorCode>> = {
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_UNSPECIFIED]: 'internal',
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_READ_ONLY]: 'conflict',
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_CONFLICT]: 'conflict',
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_INVALID]: 'invalid',
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND]: 'not_found',
  [CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_IN_USE]: 'conflict',
};

function refusalError({ reason, message, issues }: CatalogueRefusal): DashboardError {
  return new DashboardError(CODE_OF_REASON[reason], {
    message,
    ...(issues.length > 0 && { metadata: { issues: issues.map(catalogueIssueView) } }),
  });
}

/** The value of a response, or its refusal as an error. */
function unwrap<Value>(
  outcome: { $case: 'refusal'; value: CatalogueRefusal } | { $case: string; value: Value } | undefined,
): Value {
  if (outcome === undefined) throw new Error('the response has no outcome');
  if (outcome.$case === 'refusal') throw refusalError(outcome.value as CatalogueRefusal);
  return outcome.value as Value;
}
