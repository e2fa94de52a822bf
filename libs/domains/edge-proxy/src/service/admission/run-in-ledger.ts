import type { KeyGrant } from '@gateway/contracts/auth';

/** The ledger's id of a run. Each project has runs of its own, and so has each key without a project. */
export function runInLedger({ project, keyId }: KeyGrant, runId: string): string {
  return `${project?.id ?? keyId}/${runId}`;
}
