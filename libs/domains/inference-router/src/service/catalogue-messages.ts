import type {
  CatalogueChange as ChangeMessage,
  CatalogueDraft as DraftMessage,
  CatalogueRouter as RouterMessage,
  CatalogueVersion as VersionMessage,
  ProviderSecret as SecretMessage,
} from '@gateway/contracts/inference-router';
import type {
  CatalogueDraft,
  EntryChange,
  PublishedVersion,
  RouterReport,
  StoredSecret,
} from '../core/catalogue/managed-catalogue';

export function versionMessage(version: PublishedVersion): VersionMessage {
  const { restoredVersion } = version;
  return {
    version: BigInt(version.version),
    publishedUnixMs: BigInt(version.publishedAt),
    publishedBy: version.publishedBy,
    comment: version.comment,
    restoredVersion: restoredVersion === undefined ? undefined : BigInt(restoredVersion),
  };
}

export function draftMessage({ revision, text, savedAt, savedBy }: CatalogueDraft): DraftMessage {
  return { revision: BigInt(revision), text, savedUnixMs: BigInt(savedAt), savedBy };
}

export function secretMessage(
  { name, hint, changedAt, changedBy }: StoredSecret,
  used: boolean,
): SecretMessage {
  return { name, hint, changedUnixMs: BigInt(changedAt), changedBy, used };
}

export function routerMessage(report: RouterReport): RouterMessage {
  const { rejectedVersion } = report;
  return {
    name: report.router,
    version: BigInt(report.version),
    loadedUnixMs: BigInt(report.loadedAt),
    reportedUnixMs: BigInt(report.reportedAt),
    rejectedVersion: rejectedVersion === undefined ? undefined : BigInt(rejectedVersion),
  };
}

export function changeMessage({ kind, name, change, fields }: EntryChange): ChangeMessage {
  return { kind, name, change, fields: fields.map((field) => ({ ...field })) };
}
