/** The providers and regions that an organization's requests may be sent to. An empty list does not restrict. */
export interface TargetRules {
  readonly allowedProviders: readonly string[];
  readonly deniedProviders: readonly string[];
  /** A target without a region is not on the list. */
  readonly allowedRegions: readonly string[];
  readonly deniedRegions: readonly string[];
}

/** Where a target's requests are sent. */
export interface TargetPlace {
  /** The provider's name in the catalogue. */
  readonly provider: string;
  readonly region?: string | undefined;
}

export const NO_TARGET_RULES: TargetRules = {
  allowedProviders: [],
  deniedProviders: [],
  allowedRegions: [],
  deniedRegions: [],
};

export function restrictsTargets(rules: TargetRules): boolean {
  return Object.values<readonly string[]>({ ...rules }).some((list) => list.length > 0);
}

/** @param rules - in lower case. A denied name is denied even if it is also allowed. */
export function mayUseTarget(rules: TargetRules, { provider, region }: TargetPlace): boolean {
  return (
    isOnAllowList(rules.allowedProviders, provider) &&
    !isListed(rules.deniedProviders, provider) &&
    isOnAllowList(rules.allowedRegions, region) &&
    !isListed(rules.deniedRegions, region)
  );
}

function isOnAllowList(list: readonly string[], name: string | undefined): boolean {
  return list.length === 0 || isListed(list, name);
}

function isListed(list: readonly string[], name: string | undefined): boolean {
  return name !== undefined && list.includes(name.toLowerCase());
}
