import type { PeoplePorts, StoredSession } from '../ports';

/**
 * Whether the member must set up a second factor before anything else: as an operator, or for one of their
 * organizations. After single sign-on the identity provider is responsible for a second factor.
 */
export async function needsSecondFactorSetup(
  { memberships, settings }: Pick<PeoplePorts, 'memberships' | 'settings'>,
  { member, secondFactor, signedInBy }: StoredSession,
): Promise<boolean> {
  if (secondFactor || signedInBy === 'oidc') return false;
  if (member.role === 'operator' && settings.operatorsNeedSecondFactor) return true;
  return memberships.requireSecondFactor(member.id);
}
