import { auditLedger } from '@gateway/ledger-audit';
import { BillingReader, chargedOf, differencesOf, problemsOfAttempt } from '@gateway/load';
import { eventually, spendingOf } from '@gateway/test-support';
import type { Load } from './load';
import { PREFIX, type Release } from './release';

const IDLE_TIMEOUT_MS = 120_000;
const POLL_MS = 1_000;
const POSTGRES_PORT = 5_432;

/**
 * Waits until nothing is pending, then audits the ledger and compares it with usage and with the clients' responses.
 *
 * @returns the differences; empty if there are none
 */
export async function auditCharges(
  release: Release,
  { attempts, tenants, dashboard }: Load,
): Promise<string[]> {
  const password = await release.secret('postgres', 'POSTGRES_PASSWORD');
  const forward = await release.cluster.forwardPort(`pod/${PREFIX}-postgres-0`, POSTGRES_PORT);
  const reader = new BillingReader(
    (database) => `postgres://postgres:${password}@${forward.address}/${database}`,
  );
  try {
    const pending = await waitUntilIdle(reader);
    const snapshot = await reader.read(auditLedger);
    const problems = [...pending, ...snapshot.problems, ...differencesOf(snapshot)];
    for (const attempt of attempts) problems.push(...problemsOfAttempt(attempt, snapshot.settled));
    for (const { name, organizationId } of tenants) {
      const charged = chargedOf(snapshot, organizationId);
      const { usedNanoUsd } = await spendingOf(dashboard, organizationId);
      if (charged !== usedNanoUsd)
        problems.push(`${name}: charged ${charged}, /v1/credits shows ${usedNanoUsd}`);
    }
    return problems;
  } finally {
    await reader.close();
    forward.stop();
  }
}

/** @returns work that is still pending after the timeout */
async function waitUntilIdle(reader: BillingReader): Promise<string[]> {
  let pending: string[] = [];
  const isIdle = async () => {
    pending = await reader.unfinished();
    return pending.length === 0 ? true : undefined;
  };
  await eventually('nothing is pending', isIdle, { timeoutMs: IDLE_TIMEOUT_MS, pollMs: POLL_MS }).catch(
    (error: unknown) => {
      if (pending.length === 0) throw error;
    },
  );
  return pending;
}
