import { CLAIM_RETENTION_MS, LEASE_MS, type Generation } from './history';

/** An idempotency claim of the reference model. */
export interface Claim {
  readonly organization: string;
  readonly body: number;
  readonly generation: string;
  readonly claimants: readonly string[];
  readonly state: 'running' | 'released' | 'completed';
  readonly leaseEnds: number;
  readonly retainedUntil: number;
}

type Claims = Map<string, Claim>;

/** Returns whether nothing is owed, because another generation completed the key. */
export function settleClaim(
  claims: Claims,
  { id, ending }: Generation,
  scope: string | undefined,
  now: number,
): boolean {
  const known = scope === undefined ? undefined : claims.get(scope);
  if (scope === undefined || !known?.claimants.includes(id)) return false;
  if (known.state === 'completed') return known.generation !== id;
  if (ending === 'completed') {
    const retainedUntil = now + CLAIM_RETENTION_MS;
    claims.set(scope, { ...known, state: 'completed', generation: id, retainedUntil });
  } else if (known.state === 'running' && known.generation === id) {
    claims.set(scope, { ...known, state: 'released' });
  }
  return false;
}

export function claim(
  claims: Claims,
  { id, organization, body, scope = '' }: Generation,
  now: number,
): string {
  const known = claims.get(scope);
  const isExpired = known !== undefined && isPast(known, now);
  const sameBody = known?.body === body && known.organization === organization;
  if (known && !isExpired) {
    if (known.state !== 'released' && !sameBody) return 'body_mismatch';
    if (known.state === 'completed') return `completed by ${known.generation}`;
    if (known.state === 'running' && known.generation !== id && known.leaseEnds > now) return 'in_flight';
  }
  const before = known && sameBody && !isExpired ? known.claimants.filter((other) => other !== id) : [];
  claims.set(scope, {
    organization,
    body,
    generation: id,
    claimants: [...before, id],
    state: 'running',
    leaseEnds: now + LEASE_MS,
    retainedUntil: now + CLAIM_RETENTION_MS,
  });
  return 'claimed';
}

export function changeOwnClaim(
  claims: Claims,
  { id, scope = '' }: Generation,
  change: (of: Claim) => Claim,
): void {
  const known = claims.get(scope);
  if (known?.state === 'running' && known.generation === id) claims.set(scope, change(known));
}

/** A claim whose only generation never had a hold is deleted: no settlement of it follows. */
export function releaseClaim(claims: Claims, one: Generation, hadHold: boolean): void {
  const { id, scope = '' } = one;
  const known = claims.get(scope);
  const isOwn = known?.state === 'running' && known.generation === id;
  if (isOwn && !hadHold && known.claimants.length === 1) claims.delete(scope);
  else changeOwnClaim(claims, one, (of) => ({ ...of, state: 'released' }));
}

export function deleteExpired(claims: Claims, now: number): number {
  const past = [...claims].filter(([, known]) => isPast(known, now));
  for (const [scope] of past) claims.delete(scope);
  return past.length;
}

function isPast({ retainedUntil, leaseEnds, state }: Claim, now: number): boolean {
  return retainedUntil <= now && (leaseEnds <= now || state !== 'running');
}
