import { DashboardError } from '@gateway/dashboard-contract';
import type { CatalogueIssue, ManagedCatalogue } from '../core/catalogue/managed-catalogue';
import { issueViews } from './catalogue-views';

const READ_ONLY = 'The catalogue is the models file (GATEWAY_CATALOGUE=file).';

export function conflict(message: string): DashboardError {
  return new DashboardError('conflict', { message });
}

export function draftConflict(): DashboardError {
  return conflict('The draft was changed in the meantime.');
}

export function notFound(message: string): DashboardError {
  return new DashboardError('not_found', { message });
}

export function invalidText(issues: readonly CatalogueIssue[]): DashboardError {
  return new DashboardError('invalid', {
    message: 'The catalogue has errors.',
    ...(issues.length > 0 && { metadata: { issues: issueViews(issues) } }),
  });
}

/** For changes. */
export function requireManaged(managed: ManagedCatalogue | undefined): ManagedCatalogue {
  if (managed) return managed;
  throw conflict(READ_ONLY);
}

/** For endpoints that check or read a text; the dashboard calls none of them for a file. */
export function requireManagedText(managed: ManagedCatalogue | undefined): ManagedCatalogue {
  if (managed) return managed;
  throw invalid('text', READ_ONLY);
}

/** The contract limits the length; PostgreSQL stores no NUL. */
export function requireStorable(field: 'text' | 'comment', text: string): void {
  if (text.includes('\0')) throw invalid(field, 'must not contain NUL');
}

export function invalid(param: string, message: string): DashboardError {
  return new DashboardError('invalid', { message: `${param} ${message}.`, param });
}
