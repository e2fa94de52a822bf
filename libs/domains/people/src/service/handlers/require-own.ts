import type { ActingPerson } from '@gateway/actors';
import { GatewayError } from '@gateway/errors';

/** Sessions and identities are listed to their member, and to operators. */
export function requireOwn({ id, memberRole }: ActingPerson, memberId: string): void {
  if (id === memberId || memberRole === 'operator') return;
  throw new GatewayError('invalid_request', {
    message: 'member_id is not the signed-in member.',
    param: 'member_id',
  });
}
