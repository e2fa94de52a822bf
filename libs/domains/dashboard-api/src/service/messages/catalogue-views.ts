import { isoTime } from '@gateway/admin-calls';
import type {
  CatalogueChange,
  CatalogueDraft,
  CatalogueFault,
  CatalogueRouter,
  CatalogueVersion,
  ProviderSecret,
  PublishedModel,
} from '@gateway/contracts/inference-router';

export function catalogueVersionView(version: CatalogueVersion) {
  return {
    version: Number(version.version),
    published_at: isoTime(version.publishedUnixMs),
    published_by: version.publishedBy,
    comment: version.comment,
    restored_version: numberOrNull(version.restoredVersion),
  };
}

export function catalogueDraftView({ revision, text, savedUnixMs, savedBy }: CatalogueDraft) {
  return { revision: Number(revision), text, saved_at: isoTime(savedUnixMs), saved_by: savedBy };
}

export function providerSecretView({ name, hint, changedUnixMs, changedBy, used }: ProviderSecret) {
  return { name, hint, changed_at: isoTime(changedUnixMs), changed_by: changedBy, used };
}

export function catalogueRouterView(router: CatalogueRouter) {
  return {
    name: router.name,
    version: Number(router.version),
    loaded_at: isoTime(router.loadedUnixMs),
    reported_at: isoTime(router.reportedUnixMs),
    rejected_version: numberOrNull(router.rejectedVersion),
  };
}

export function catalogueIssueView({ message, line }: CatalogueFault) {
  return { message, line: line ?? null };
}

const KINDS = ['provider', 'model'] as const;
const CHANGES = ['added', 'removed', 'changed'] as const;

export function catalogueChangeView({ kind, name, change, fields }: CatalogueChange) {
  return {
    kind: KINDS.find((known) => known === kind) ?? 'model',
    name,
    change: CHANGES.find((known) => known === change) ?? 'changed',
    fields: fields.map(({ field, before, after }) => ({
      field,
      before: before ?? null,
      after: after ?? null,
    })),
  };
}

/** The fields of an entry, or of the JSON Schema. */
export function catalogueFieldsView(json: string) {
  return JSON.parse(json) as Record<string, unknown>;
}

export function publishedModelView({ provider, model, entryJson }: PublishedModel) {
  return { provider, model, entry: catalogueFieldsView(entryJson) };
}

function numberOrNull(value: bigint | undefined): number | null {
  return value === undefined ? null : Number(value);
}
