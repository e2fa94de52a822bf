import type { AuditEntry, UnixMs } from '@gateway/base';
import type { GenerationRequest } from '../generation/finished-generation';
import type { CutText, GenerationContent } from './content';

/**
 * Receives the prompt and response of every recorded generation, and stores those of
 * organizations that turned this on.
 *
 * Duties: never blocks and never throws; bounded memory; content that cannot be stored
 * is dropped and counted.
 */
export interface ContentRecorder {
  /** @param responseJson - renders the chat.completion object; undefined without an event of a provider. */
  offer(request: GenerationRequest, responseJson: (() => string) | undefined): void;
}

export const DEFAULT_RETENTION_DAYS = 7;

export interface ContentLogSettings {
  readonly enabled: boolean;
  readonly retentionDays: number;
}

interface ContentLogState extends ContentLogSettings {
  /** Whether anything is stored. */
  readonly hasContents: boolean;
}

/** Absent settings keep their value. */
interface SetContentLog extends Partial<ContentLogSettings> {
  readonly organizationId: string;
  /** Also deletes what is stored. */
  readonly erase: boolean;
}

export interface StoredContent {
  readonly request: CutText;
  readonly response: CutText | undefined;
  readonly createdAt: UnixMs;
  readonly expiresAt: UnixMs;
}

/**
 * The content of organizations, encrypted.
 *
 * Duties: content is stored only while the organization has it on, and only of
 * generations that were admitted since it was turned on or last erased, whatever a
 * caller assumes. A change, and an access that finds something, is in one
 * transaction with its audit entry.
 */
export interface ContentStore {
  /** The organizations that have it on. */
  enabled(): Promise<ReadonlySet<string>>;
  /** Undefined for an organization that never had it on. */
  state(organizationId: string): Promise<ContentLogState | undefined>;
  /** @returns how many were stored. Repeated generations are stored once. */
  store(contents: readonly GenerationContent[]): Promise<number>;
  /** @param auditOf - not called if nothing changes. */
  set(
    change: SetContentLog,
    auditOf: (before: ContentLogSettings, after: ContentLogSettings) => AuditEntry,
  ): Promise<void>;
  /** Undefined if nothing is stored, or its time is over. */
  read(organizationId: string, generationId: string, audit: AuditEntry): Promise<StoredContent | undefined>;
  /** @returns false if nothing was stored. */
  eraseOne(organizationId: string, generationId: string, audit: AuditEntry): Promise<boolean>;
  eraseAll(organizationId: string, audit: AuditEntry): Promise<void>;
  /** Deletes content past its retention. @returns how many. */
  deleteExpired(): Promise<number>;
  /** Encrypts keys of organizations that use an older secrets key with the current one. @returns how many. */
  reencryptKeys(): Promise<number>;
}
