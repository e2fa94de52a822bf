import type { Actor } from '@gateway/auth-shared';
import type { KeyOwner } from '../model';

/** The person who creates a key owns it. */
export function ownerOf({ id, label, memberRole }: Actor): KeyOwner {
  return { id, email: label, isOperator: memberRole === 'operator', hasLeft: false };
}
