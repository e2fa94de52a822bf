import { isoTime } from '@gateway/admin-calls';
import type {
  CatalogueDraft,
  CatalogueIssue,
  EntryChange,
  PublishedVersion,
  RouterReport,
  StoredSecret,
} from '../core/catalogue/managed-catalogue';

const MAX_ISSUES = 100;

export function versionView({
  version,
  publishedAt,
  publishedBy,
  comment,
  restoredVersion,
}: PublishedVersion) {
  return {
    version,
    published_at: isoTime(publishedAt),
    published_by: publishedBy,
    comment,
    restored_version: restoredVersion ?? null,
  };
}

export function draftView({ revision, text, savedAt, savedBy }: CatalogueDraft) {
  return { revision, text, saved_at: isoTime(savedAt), saved_by: savedBy };
}

export function secretView({ name, hint, changedAt, changedBy }: StoredSecret, used: boolean) {
  return { name, hint, changed_at: isoTime(changedAt), changed_by: changedBy, used };
}

export function routerView({ router, version, loadedAt, reportedAt, rejectedVersion }: RouterReport) {
  return {
    name: router,
    version,
    loaded_at: isoTime(loadedAt),
    reported_at: isoTime(reportedAt),
    rejected_version: rejectedVersion ?? null,
  };
}

export function issueViews(issues: readonly CatalogueIssue[]) {
  return issues.slice(0, MAX_ISSUES).map(({ message, line }) => ({ message, line: line ?? null }));
}

export function changeView({ kind, name, change, fields }: EntryChange) {
  return {
    kind,
    name,
    change,
    fields: fields.map(({ field, before, after }) => ({
      field,
      before: before ?? null,
      after: after ?? null,
    })),
  };
}
