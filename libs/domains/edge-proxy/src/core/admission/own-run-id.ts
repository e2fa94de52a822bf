import type { KeyGrant } from '@gateway/contracts/auth';

/**
 * The id under which the ledger and usage store a run. A run belongs to the project of
 * the key, or to the key: another key of the organization cannot use up its budget, or
 * fix that of a run whose id it guesses. Ids of keys and projects have no slash.
 */
export function ownRunId({ keyId, projectId }: KeyGrant, runId: string): string {
  return `${projectId ?? keyId}/${runId}`;
}
