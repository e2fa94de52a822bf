import { NO_TARGET_RULES, type CancelSignal, type TargetRules } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { invalid, type Actor, type AdminRefusal } from '@gateway/auth-shared';
import { withChanges, type Changes } from '../changes';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

const MAX_ENTRIES = 50;
/** The characters of a provider's name or region in the catalogue. */
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export interface SetTargetRules {
  readonly actor: Actor;
  readonly organizationId: string;
  readonly rules: Changes<TargetRules>;
  readonly expectedVersion?: number;
}

/**
 * Changes the lists of allowed and denied providers and regions. The names need not exist: a provider or region may be
 * added to the catalogue later.
 */
export async function setTargetRules(
  ports: OrganizationPorts,
  { rules, ...change }: SetTargetRules,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const changes = readTargetRules(rules);
  if (isRefusal(changes)) return changes;
  const apply = (current: Organization) => ({
    ...current,
    targetRules: { ...NO_TARGET_RULES, ...withChanges(current.targetRules, changes) },
  });
  return changeOrganization(ports, { ...change, action: 'organization.set_target_rules', apply }, signal);
}

function readTargetRules(rules: Changes<TargetRules>): Changes<TargetRules> | AdminRefusal {
  const allowedProviders = readNames('allowed_providers', rules.allowedProviders);
  if (isRefusal(allowedProviders)) return allowedProviders;
  const deniedProviders = readNames('denied_providers', rules.deniedProviders);
  if (isRefusal(deniedProviders)) return deniedProviders;
  const allowedRegions = readNames('allowed_regions', rules.allowedRegions);
  if (isRefusal(allowedRegions)) return allowedRegions;
  const deniedRegions = readNames('denied_regions', rules.deniedRegions);
  if (isRefusal(deniedRegions)) return deniedRegions;
  return { allowedProviders, deniedProviders, allowedRegions, deniedRegions };
}

type Names = readonly string[] | null | undefined;

function readNames(field: string, names: Names): Names | AdminRefusal {
  if (!names) return names;
  if (names.length > MAX_ENTRIES) return invalid(field, `${field} must have at most ${MAX_ENTRIES} entries.`);
  const read = new Set<string>();
  for (const [index, name] of names.entries()) {
    const lower = name.trim().toLowerCase();
    if (!NAME.test(lower)) {
      const entry = `${field}[${index}]`;
      return invalid(
        entry,
        `${entry} must be 1 to 64 letters, digits, dots, hyphens and underscores, such as "eu-west-1".`,
      );
    }
    read.add(lower);
  }
  return [...read].sort();
}
