import { CatalogueRefusalReason, type CatalogueRefusal } from '@gateway/contracts/inference-router';
import { GatewayError } from '@gateway/errors';
import type { CatalogueIssue, ManagedCatalogue } from '../core/catalogue/managed-catalogue';

const MAX_ISSUES = 100;
/** The longest text, in characters. */
const MAX_TEXT_CHARACTERS = 1_500_000;

export function refusal(
  reason: CatalogueRefusalReason,
  message: string,
  issues: readonly CatalogueIssue[] = [],
): CatalogueRefusal {
  return { reason, message, issues: issuesOf(issues) };
}

export function issuesOf(issues: readonly CatalogueIssue[]) {
  return issues.slice(0, MAX_ISSUES).map((issue) => ({ ...issue }));
}

export const READ_ONLY = refusal(
  CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_READ_ONLY,
  'The catalogue is the models file (GATEWAY_CATALOGUE=file).',
);
export const DRAFT_CONFLICT = refusal(
  CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_CONFLICT,
  'The draft was changed in the meantime.',
);
export const VERSION_CONFLICT = refusal(
  CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_CONFLICT,
  'The draft was changed, or another version was published, in the meantime.',
);
export const NO_VERSION = refusal(
  CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND,
  'No such version.',
);
export const NO_TARGET = refusal(
  CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_NOT_FOUND,
  'No such target.',
);

export function invalidText(issues: readonly CatalogueIssue[]): CatalogueRefusal {
  return refusal(
    CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_INVALID,
    'The catalogue has errors.',
    issues,
  );
}

/** An entry cannot be changed. */
export function invalidEdit(message: string): CatalogueRefusal {
  return refusal(CatalogueRefusalReason.CATALOGUE_REFUSAL_REASON_INVALID, message);
}

export function refused(value: CatalogueRefusal) {
  return { outcome: { $case: 'refusal' as const, value } };
}

/** Only calls that change or check a text reach it; the dashboard makes none for a file. */
export function requireManaged(managed: ManagedCatalogue | undefined): ManagedCatalogue {
  if (managed) return managed;
  throw invalid('text', READ_ONLY.message);
}

export function requireCatalogueText(text: string): void {
  requireLength('text', text, MAX_TEXT_CHARACTERS);
}

export function requireText(field: string, text: string, max: number): string {
  const trimmed = text.trim();
  if (trimmed === '') throw invalid(field, 'is required');
  requireLength(field, trimmed, max);
  return trimmed;
}

function requireLength(field: string, text: string, max: number): void {
  if (text.length > max) throw invalid(field, `must have at most ${max} characters`);
  // PostgreSQL stores no NUL.
  if (text.includes('\0')) throw invalid(field, 'must not contain NUL');
}

export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param} ${message}.`, param });
}
