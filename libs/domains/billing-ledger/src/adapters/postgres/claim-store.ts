import type { Pool } from 'pg';
import type { ClaimResult, ClaimRequest } from '../../core/idempotency/claim';
import type { ClaimStore } from '../../core/ports';
import { CLAIM_RETENTION_MS } from '../../core/limits';
import { withRetries } from './retry';
import { plainArray, textArray } from '@gateway/database';

/** Ordered by scope, like every statement that locks several claims. */
const CLAIM = {
  name: 'billing_ledger.claim_idempotency_keys',
  text: `
    select wanted.position::integer as position, claim.*
    from (
      select *
      from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $7::bytea[]) with ordinality
        as named (scope, organization_id, body_sha256, generation_id, lease_ms, response_key, position)
      order by scope collate "C", position
    ) wanted,
    lateral claim_idempotency_key(
      wanted.scope, wanted.organization_id, wanted.body_sha256, wanted.generation_id, wanted.lease_ms, $6,
      wanted.response_key
    ) claim`,
};

const RENEW = {
  name: 'billing_ledger.renew_idempotency_claims',
  text: 'select renew_idempotency_claims($1, $2, $3)',
};

const RELEASE = {
  name: 'billing_ledger.release_idempotency_claims',
  text: 'select release_idempotency_claims($1, $2)',
};

const DELETE_EXPIRED = {
  name: 'billing_ledger.delete_expired_idempotency_claims',
  text: 'select delete_expired_idempotency_claims($1) as deleted',
};

interface ClaimRow {
  /** Starts at one. */
  readonly position: number;
  readonly outcome: ClaimResult['kind'];
  readonly generation_id: string | null;
  readonly response_key: Buffer | null;
  readonly encrypted_response: Buffer | null;
}

/** Claims are in the ledger's database, so that a settlement closes them in its own transaction. */
export function createPostgresClaimStore({ pool }: { readonly pool: Pool }): ClaimStore {
  return {
    claimIdempotencyKeys: (claims) => withRetries(() => claimKeys(pool, claims)),

    async renewClaims(claims, leaseMs) {
      if (claims.length === 0) return;
      const scopes = textArray(claims, (claim) => claim.scope);
      const generationIds = textArray(claims, (claim) => claim.generationId);
      await withRetries(() => pool.query({ values: [scopes, generationIds, leaseMs], ...RENEW }));
    },

    async releaseClaims(claims) {
      if (claims.length === 0) return;
      const scopes = textArray(claims, (claim) => claim.scope);
      const generationIds = textArray(claims, (claim) => claim.generationId);
      await withRetries(() => pool.query({ values: [scopes, generationIds], ...RELEASE }));
    },

    deleteExpiredClaims: (limit) =>
      withRetries(async () => {
        const { rows } = await pool.query<{ deleted: number }>({
          values: [limit],
          ...DELETE_EXPIRED,
        });
        return rows[0]?.deleted ?? 0;
      }),
  };
}

async function claimKeys(pool: Pool, claims: readonly ClaimRequest[]): Promise<ClaimResult[]> {
  const { rows } = await pool.query<ClaimRow>({
    values: [
      textArray(claims, (claim) => claim.scope),
      textArray(claims, (claim) => claim.organizationId),
      claims.map((claim) => Buffer.from(claim.bodySha256)),
      textArray(claims, (claim) => claim.generationId),
      plainArray(claims, (claim) => claim.leaseMs),
      CLAIM_RETENTION_MS,
      claims.map((claim) => Buffer.from(claim.responseKey)),
    ],
    ...CLAIM,
  });
  const rowOf = new Map(rows.map((row) => [row.position, row]));
  return claims.map((_, index) => resultOf(rowOf.get(index + 1)));
}

function resultOf(row: ClaimRow | undefined): ClaimResult {
  if (!row) throw new Error('claim_idempotency_key returned no row');
  const {
    outcome: kind,
    generation_id: generationId,
    response_key: key,
    encrypted_response: encrypted,
  } = row;
  if (kind === 'body_mismatch') return { kind };
  if (kind === 'claimed') {
    if (key === null) throw new Error('a claim has no response key');
    return { kind, responseKey: key };
  }
  if (generationId === null) throw new Error('the claim of another request has no generation');
  if (kind === 'in_flight') return { kind, generationId };
  if (encrypted === null || key === null) throw new Error('a completed claim has no response');
  return { kind, generationId, response: { encrypted, key } };
}
