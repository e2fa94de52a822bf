import type { Clock } from '@gateway/base';
import type { Pool } from 'pg';
import type { ClaimOutcome, ClaimRequest } from '../../core/idempotency/claim';
import type { ClaimStore } from '../../core/ports';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import { withRetries } from './retry';
import { textArray } from '@gateway/database';

const CLAIM = {
  name: 'billing_ledger.claim_idempotency_key',
  text: 'select * from claim_idempotency_key($1, $2, $3, $4, $5, $6, $7)',
};

const RENEW = {
  name: 'billing_ledger.renew_idempotency_claims',
  text: 'select renew_idempotency_claims($1, $2, $3)',
};

const RELEASE = {
  name: 'billing_ledger.release_idempotency_claims',
  text: 'select release_idempotency_claims($1, $2)',
};

const TRIM = {
  name: 'billing_ledger.trim_idempotency_claims',
  text: 'select trim_idempotency_claims($1, $2) as trimmed',
};

interface ClaimRow {
  readonly outcome: ClaimOutcome['kind'];
  readonly generation_id: string | null;
  readonly response_json: Buffer | null;
}

/** Claims in the ledger's database, where a settlement can close them in its own transaction. */
export function createPostgresClaimStore({ pool, clock }: { pool: Pool; clock: Clock }): ClaimStore {
  return {
    claimIdempotencyKey: (claim) => withRetries(() => claimKey(pool, claim, clock.now())),

    async renewClaims(claims, leaseMs) {
      if (claims.length === 0) return;
      const scopes = textArray(claims, (claim) => claim.scope);
      const generationIds = textArray(claims, (claim) => claim.generationId);
      await withRetries(() =>
        pool.query({ ...RENEW, values: [scopes, generationIds, clock.now() + leaseMs] }),
      );
    },

    async releaseClaims(claims) {
      if (claims.length === 0) return;
      const scopes = textArray(claims, (claim) => claim.scope);
      const generationIds = textArray(claims, (claim) => claim.generationId);
      await withRetries(() => pool.query({ ...RELEASE, values: [scopes, generationIds] }));
    },

    trimClaims: (limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<{ trimmed: number }>({ ...TRIM, values: [clock.now(), limit] });
        return rows[0]?.trimmed ?? 0;
      }),
  };
}

async function claimKey(pool: Pool, claim: ClaimRequest, nowUnixMs: number): Promise<ClaimOutcome> {
  const { rows } = await pool.query<ClaimRow>({
    ...CLAIM,
    values: [
      claim.scope,
      claim.organizationId,
      Buffer.from(claim.bodySha256),
      claim.generationId,
      nowUnixMs,
      claim.leaseEndsUnixMs,
      nowUnixMs + CLAIM_RETENTION_MS,
    ],
  });
  const row = rows[0];
  if (!row) throw new Error('claim_idempotency_key answered nothing');
  if (row.outcome !== 'completed') return { kind: row.outcome };
  if (row.generation_id === null || row.response_json === null) {
    throw new Error('a completed claim has no answer');
  }
  return { kind: 'completed', generationId: row.generation_id, responseJson: row.response_json };
}
