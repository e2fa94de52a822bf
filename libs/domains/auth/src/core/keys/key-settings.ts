import { isRefusal } from '@gateway/errors';
import { isUtcDay, type UtcDay } from '@gateway/base';
import { invalid, type AdminRefusal, MAX_NAME_CHARACTERS, readText } from '@gateway/auth-shared';
import { checkLimits, checkWithinOrganization, checkWithinProject } from '../organizations/limits';
import {
  SCOPES,
  type KeyLimits,
  type KeySettings,
  type Organization,
  type Project,
  type Scope,
} from '../model';
import type { AddressRanges } from '../ports';

const MAX_ALLOWED_MODELS = 200;
const MAX_MODEL_ID_CHARACTERS = 200;
const MAX_ALLOWLIST_ENTRIES = 200;

/** Settings as requested, not yet validated. */
export interface RequestedKeySettings {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly allowedModels: readonly string[];
  readonly ipAllowlist: readonly string[];
  readonly jsonStreaming: boolean;
  readonly expiresOn?: string;
  readonly limits: KeyLimits;
  readonly projectId?: string;
}

export interface KeySettingsContext {
  readonly organization: Pick<Organization, 'limits' | 'ceilings'>;
  /** The organization's project with the requested id, if there is one. */
  readonly project: Project | undefined;
  readonly addressRanges: AddressRanges;
}

/** The settings in canonical form, or a refusal that names the first invalid field. */
export function readKeySettings(
  requested: RequestedKeySettings,
  context: KeySettingsContext,
): KeySettings | AdminRefusal {
  const name = readText('name', requested.name, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const scopes = SCOPES.filter((scope) => requested.scopes.includes(scope));
  if (scopes.length === 0) return invalid('scopes', `scopes must name at least one of ${SCOPES.join(', ')}.`);
  const allowedModels = readAllowedModels(requested.allowedModels);
  if (isRefusal(allowedModels)) return allowedModels;
  const ipAllowlist = readIpAllowlist(requested.ipAllowlist, context.addressRanges);
  if (isRefusal(ipAllowlist)) return ipAllowlist;
  const expiresOn = readExpiresOn(requested.expiresOn);
  if (isRefusal(expiresOn)) return expiresOn;
  const refusal =
    checkLimits(requested.limits) ??
    checkWithinOrganization(requested.limits, context.organization) ??
    checkProject(requested, context.project);
  if (refusal) return refusal;
  return {
    name,
    scopes,
    allowedModels,
    ipAllowlist,
    jsonStreaming: requested.jsonStreaming,
    expiresOn,
    limits: requested.limits,
    projectId: requested.projectId,
  };
}

function checkProject(
  { projectId, limits }: RequestedKeySettings,
  project: Project | undefined,
): AdminRefusal | undefined {
  if (projectId === undefined) return undefined;
  if (!project) return invalid('project_id', 'project_id must be the id of a project of the organization.');
  if (project.archivedAt !== undefined) return invalid('project_id', 'This project is archived.');
  return checkWithinProject(limits, project.budgets);
}

/** Models need not exist: they may be added to the catalogue later. */
function readAllowedModels(models: readonly string[]): string[] | AdminRefusal {
  if (models.length > MAX_ALLOWED_MODELS) {
    return invalid('allowed_models', `allowed_models must have at most ${MAX_ALLOWED_MODELS} entries.`);
  }
  const read: string[] = [];
  for (const [index, model] of models.entries()) {
    const field = `allowed_models[${index}]`;
    const id = readText(field, model, MAX_MODEL_ID_CHARACTERS);
    if (isRefusal(id)) return id;
    if (!read.includes(id)) read.push(id);
  }
  return read;
}

function readIpAllowlist(entries: readonly string[], ranges: AddressRanges): string[] | AdminRefusal {
  if (entries.length > MAX_ALLOWLIST_ENTRIES) {
    return invalid('ip_allowlist', `ip_allowlist must have at most ${MAX_ALLOWLIST_ENTRIES} entries.`);
  }
  const read: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const range = ranges.canonical(entry.trim());
    if (range === undefined) {
      return invalid(
        `ip_allowlist[${index}]`,
        `ip_allowlist[${index}] must be an IPv4 or IPv6 address, or a CIDR range such as 192.0.2.0/24.`,
      );
    }
    if (!read.includes(range)) read.push(range);
  }
  return read;
}

/** Earlier days are typing errors. */
const FIRST_EXPIRY_DAY = '2000-01-01';

/** A past day is valid: it disables the key until the day is changed. */
function readExpiresOn(text: string | undefined): UtcDay | undefined | AdminRefusal {
  if (text === undefined) return undefined;
  if (!isUtcDay(text) || text < FIRST_EXPIRY_DAY) {
    return invalid(
      'expires_on',
      `expires_on must be a day as YYYY-MM-DD, and at the earliest ${FIRST_EXPIRY_DAY}.`,
    );
  }
  return text;
}
