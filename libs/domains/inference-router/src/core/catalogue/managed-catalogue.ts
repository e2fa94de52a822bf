import type { AuditEntry, UnixMs } from '@gateway/base';
import type { PriceCollection } from '../price-data/compare-catalogue';
import type { ProposedModel, ProposedPrices } from '../price-data/propose-prices';
import type { Catalogue } from './model-catalogue';

/** An issue of a catalogue text. */
export interface CatalogueIssue {
  /** With its path, such as "models[2].prices.output (line 31): …". Contains no secret. */
  readonly message: string;
  readonly line: number | undefined;
}

export interface PublishedVersion {
  /** 1, 2, … */
  readonly version: number;
  readonly publishedAt: UnixMs;
  readonly publishedBy: string;
  readonly comment: string;
  /** The version whose text it repeats, if it is a rollback. */
  readonly restoredVersion: number | undefined;
}

export interface VersionWithText extends PublishedVersion {
  readonly text: string;
}

export interface CatalogueDraft {
  /** Never used again for another draft. */
  readonly revision: number;
  readonly text: string;
  readonly savedAt: UnixMs;
  readonly savedBy: string;
}

/** A secret without its value. */
export interface StoredSecret {
  readonly name: string;
  /** The last four characters; empty for short secrets. */
  readonly hint: string;
  readonly changedAt: UnixMs;
  readonly changedBy: string;
}

/** What a router reports about itself. */
export interface RouterReport {
  readonly router: string;
  /** The version that it runs; 0 before the first one. */
  readonly version: number;
  readonly loadedAt: UnixMs;
  readonly reportedAt: UnixMs;
  /** A later version that it could not load. */
  readonly rejectedVersion: number | undefined;
}

/** What a router needs to load the catalogue, read at one moment. */
interface PublishedCatalogue {
  /** Increases with each published version and each change of a secret. */
  readonly sequence: bigint;
  /** Undefined before the first version. */
  readonly version: VersionWithText | undefined;
  /** The values of the stored secrets, by name. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** Who makes a change, and its audit entry. */
interface CatalogueChangeBy {
  readonly at: UnixMs;
  readonly by: string;
  readonly audit: AuditEntry;
}

/** The text of a new version. */
export type VersionSource =
  /** The draft, which the version replaces. */
  | { readonly kind: 'draft'; readonly revision: number }
  /** An earlier version, whose text is published again. */
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'text'; readonly text: string };

interface NewVersion {
  readonly source: VersionSource;
  readonly comment: string;
  /** The version in effect, 0 for none. */
  readonly expectedVersion: number;
  /** Whether a router can load the text. Called while all changes are locked. */
  readonly check: (text: string, secrets: ReadonlyMap<string, string>) => CheckedText;
}

export type PublishOutcome =
  | { readonly kind: 'published'; readonly version: PublishedVersion }
  /** Another version is in effect, or the draft has another revision. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'invalid'; readonly issues: readonly CatalogueIssue[] };

/**
 * Versions, draft and stored secrets of a catalogue in a database that all routers share. Changes are made one at a
 * time, each with its audit entry in one transaction.
 */
export interface CatalogueStore {
  /** The current sequence number; cheap enough to be polled. */
  sequence(): Promise<bigint>;
  readPublished(): Promise<PublishedCatalogue>;
  /** Newest first, below `before`. */
  listVersions(page: {
    readonly limit: number;
    readonly before: number | undefined;
  }): Promise<readonly PublishedVersion[]>;
  findVersion(version: number): Promise<VersionWithText | undefined>;

  readDraft(): Promise<CatalogueDraft | undefined>;
  /** Conflict: the draft has another revision than the expected one; 0 stands for no draft. */
  saveDraft(
    text: string,
    expectedRevision: number,
    change: CatalogueChangeBy,
  ): Promise<CatalogueDraft | 'conflict'>;
  discardDraft(expectedRevision: number, change: CatalogueChangeBy): Promise<'discarded' | 'conflict'>;

  /** Publishes a text as the next version. */
  publish(
    version: NewVersion,
    change: Omit<CatalogueChangeBy, 'audit'> & { readonly auditOf: (version: number) => AuditEntry },
  ): Promise<PublishOutcome>;

  listSecrets(): Promise<readonly StoredSecret[]>;
  setSecret(name: string, value: string, change: CatalogueChangeBy): Promise<StoredSecret>;
  /** @param isUsedBy whether the text in effect names the secret. Called while all changes are locked. */
  deleteSecret(
    name: string,
    isUsedBy: (text: string) => boolean,
    change: CatalogueChangeBy,
  ): Promise<'deleted' | 'not_found' | 'in_use'>;

  /**
   * Ties each secret to the origins of its first use, before it is sent there.
   *
   * @returns an issue for each secret that would be sent elsewhere; nothing is changed then.
   */
  tieSecrets(origins: SecretOrigins): Promise<readonly CatalogueIssue[]>;
  /** Records an action that changes nothing in the store. */
  writeAudit(entry: AuditEntry): Promise<void>;

  /** Replaces the report of this router. */
  report(report: RouterReport): Promise<void>;
  listReports(since: UnixMs): Promise<readonly RouterReport[]>;
}

/** The origins to which a text sends each stored secret, by its name. */
export type SecretOrigins = ReadonlyMap<string, ReadonlySet<string>>;

type CheckedText =
  | { readonly ok: true; readonly catalogue: Catalogue; readonly secretOrigins: SecretOrigins }
  | { readonly ok: false; readonly issues: readonly CatalogueIssue[] };

export type EntryKind = 'provider' | 'model';

/** The change of one entry of a text. */
export interface EntryEdit {
  readonly kind: EntryKind;
  /** The position of the entry, from 0. Undefined: the entry is added. */
  readonly index: number | undefined;
  /** The fields as in the text. Undefined: the entry is removed. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
}

type EditedText =
  | { readonly ok: true; readonly text: string }
  /** For people. */
  | { readonly ok: false; readonly message: string };

/** What a text changes in one provider or model, compared with another text. */
export interface EntryChange {
  readonly kind: EntryKind;
  /** The name of the provider, or the ID of the model. */
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Such as "prices.input". Undefined: not set. */
  readonly fields: readonly {
    readonly field: string;
    readonly before: string | undefined;
    readonly after: string | undefined;
  }[];
}

/** Reads catalogue texts: YAML in the schema of the models file. Pure. */
export interface CatalogueTexts {
  check(text: string, secrets: ReadonlyMap<string, string>): CheckedText;
  /** Unreadable texts have no entries. */
  compare(before: string, after: string): readonly EntryChange[];
  /** The text with other prices of models. Everything else stays as it is. */
  withPrices(text: string, proposals: readonly ProposedPrices[]): string;
  /** What is published of the entry of a model. Fields without published values, such as the output limit, are missing. */
  entryOf(model: ProposedModel): Readonly<Record<string, unknown>>;
  /** The entries of a text as written, without defaults; none of an unreadable text. */
  listEntries(text: string): Readonly<Record<EntryKind, readonly Readonly<Record<string, unknown>>[]>>;
  /** The text with one entry added, replaced or removed. Comments, and other entries, stay as they are. */
  withEntry(text: string, edit: EntryEdit): EditedText;
  /** Whether a preset has this host, so that it is no address of the operator's network. */
  isPresetHost(url: URL): boolean;
  /** The JSON Schema of a text. */
  schema(): Readonly<Record<string, unknown>>;
  /** The stored secrets that a text names; none of an unreadable one. */
  secretNames(text: string): ReadonlySet<string>;
}

/** The catalogue in the database. */
export interface ManagedCatalogue {
  readonly store: CatalogueStore;
  readonly texts: CatalogueTexts;
  /** Loads the published prices of providers; they are large, and seldom needed. */
  readonly loadPriceData: () => Promise<PriceCollection>;
}
