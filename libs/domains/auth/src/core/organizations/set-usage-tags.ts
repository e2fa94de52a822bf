import type { CancelSignal } from '@gateway/base';
import { isRefusal } from '@gateway/errors';
import { invalid, type Actor, type AdminRefusal } from '@gateway/auth-shared';
import { changeOrganization, type OrganizationPorts } from './change-organization';
import type { Organization } from '../model';

/** Each tag makes every settlement of the organization slower. */
const MAX_TAGS = 5;
/** Without the separators of `group_by`; 64 is the longest name in the metadata of OpenAI's API. */
const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

export interface SetUsageTags {
  readonly actor: Actor;
  readonly organizationId: string;
  /** Undefined: no change. Null: none. */
  readonly names: readonly string[] | null | undefined;
  readonly expectedVersion?: number;
}

/** Applies to requests that edges admit from then on. */
export async function setUsageTags(
  ports: OrganizationPorts,
  { names, ...change }: SetUsageTags,
  signal: CancelSignal,
): Promise<Organization | AdminRefusal> {
  const usageTags = names === undefined ? undefined : readNames(names ?? []);
  if (isRefusal(usageTags)) return usageTags;
  const apply = (current: Organization) => ({ ...current, usageTags: usageTags ?? current.usageTags });
  return changeOrganization(ports, { ...change, action: 'organization.set_usage_tags', apply }, signal);
}

function readNames(names: readonly string[]): readonly string[] | AdminRefusal {
  const read = new Set(names.map((name) => name.trim()));
  if (read.size > MAX_TAGS) return invalid('usage_tags', `usage_tags must have at most ${MAX_TAGS} entries.`);
  const wrong = names.findIndex((name) => !NAME.test(name.trim()));
  if (wrong === -1) return [...read].sort();
  const entry = `usage_tags[${wrong}]`;
  return invalid(
    entry,
    `${entry} must be 1 to 64 letters, digits, dots, hyphens and underscores, such as "customer_id".`,
  );
}
