import { auditOf, isIdLike, notFound, type Actor, type AdminRefusal } from '@gateway/auth-shared';
import type { PeoplePorts } from '../ports';
import type { ManagementToken } from './management-token';

export interface ManagementTokenTarget {
  readonly actor: Actor;
  readonly organizationId: string | undefined;
  readonly tokenId: string;
}

/** Revokes the token: it authenticates no further request. Idempotent. */
export async function revokeManagementToken(
  ports: Pick<PeoplePorts, 'managementTokens' | 'clock' | 'newId'>,
  { actor, organizationId, tokenId }: ManagementTokenTarget,
): Promise<ManagementToken | AdminRefusal> {
  const token = isIdLike(tokenId) ? await ports.managementTokens.find(tokenId) : undefined;
  if (!token || token.scope?.organizationId !== organizationId) return notFound('management token');
  const { name, last4 } = token;
  const audit = auditOf(
    {
      actor,
      organizationId,
      action: 'management_token.revoke',
      target: token.id,
      details: { name, last4 },
    },
    ports,
  );
  return ports.managementTokens.revoke(token.id, ports.clock.now(), audit);
}
