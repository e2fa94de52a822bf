import type { Actor } from '@gateway/auth-shared';
import type { KeyOwner } from '../model';

/** The person who creates a key owns it. The store reads their email and name. */
export function ownerOf({ id, memberRole }: Actor): KeyOwner {
  return { id, email: '', name: '', isOperator: memberRole === 'operator', hasLeft: false };
}
