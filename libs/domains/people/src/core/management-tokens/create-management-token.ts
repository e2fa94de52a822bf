import {
  isUtcDay,
  MANAGEMENT_TOKEN_ROLES,
  utcDay,
  type ManagementTokenAccess,
  type ManagementTokenRole,
  type OrganizationRole,
  type UnixMs,
  type UtcDay,
} from '@gateway/base';
import {
  auditOf,
  conflict,
  forbidden,
  invalid,
  MAX_NAME_CHARACTERS,
  readText,
  type Actor,
  type AdminRefusal,
  checkThat,
} from '@gateway/auth-shared';
import { isRefusal } from '@gateway/errors';
import type { PeoplePorts } from '../ports';
import { MANAGEMENT_TOKEN_PREFIX, type ManagementToken } from './management-token';

const DAY_MS = 86_400_000;
/** A token expires at most this many days after the day of its creation. */
const MAX_DAYS = 366;
/** The most tokens of a person, over all organizations, without expired and revoked ones. */
const MAX_TOKENS = 100;

export interface CreateManagementToken {
  readonly actor: Actor;
  /** Undefined: a token of the platform. */
  readonly organizationId: string | undefined;
  readonly name: string;
  /** The role in the organization; undefined without one. */
  readonly role: OrganizationRole | undefined;
  readonly access: ManagementTokenAccess;
  readonly expiresOn: string;
}

export interface CreatedManagementToken {
  readonly kind: 'created';
  readonly token: ManagementToken;
  /** The full token. It is shown once and cannot be retrieved again. */
  readonly secret: string;
}

type CreatePorts = Pick<PeoplePorts, 'managementTokens' | 'members' | 'secrets' | 'clock' | 'newId'>;

export async function createManagementToken(
  ports: CreatePorts,
  {
    actor,
    organizationId,
    name: requestedName,
    role,
    access,
    expiresOn: requestedDay,
  }: CreateManagementToken,
): Promise<CreatedManagementToken | AdminRefusal> {
  const name = readText('name', requestedName, MAX_NAME_CHARACTERS);
  if (isRefusal(name)) return name;
  const scope = readScope(organizationId, role);
  if (isRefusal(scope)) return scope;
  const now = ports.clock.now();
  const expiresOn = readExpiresOn(requestedDay, now);
  if (isRefusal(expiresOn)) return expiresOn;
  const creator = await ports.members.find(actor.id);
  if (!creator) return forbidden();
  const secret = MANAGEMENT_TOKEN_PREFIX + ports.secrets.random();
  const id = ports.newId('mtk');
  const audit = auditOf(
    {
      actor,
      organizationId,
      action: 'management_token.create',
      target: id,
      details: { name, last4: secret.slice(-4), role: role ?? 'operator', access, expires_on: expiresOn },
    },
    ports,
  );
  const created = {
    id,
    ...(scope && { scope }),
    name,
    last4: secret.slice(-4),
    access,
    createdAt: now,
    expiresOn,
    creatorId: creator.id,
  };
  const check = checkThat(creator.id, permissionToManage(organizationId));
  const sha256 = ports.secrets.sha256(secret);
  const token = await ports.managementTokens.insert(sha256, created, check, MAX_TOKENS, audit);
  if (token === 'forbidden') return forbidden();
  if (token === 'too_many') {
    return conflict(`A person has at most ${MAX_TOKENS} management tokens that work. Revoke one first.`);
  }
  return { kind: 'created', token, secret };
}

/** The permission to create, list and revoke tokens of the organization, or of the platform. */
function permissionToManage(organizationId: string | undefined) {
  return organizationId === undefined ? 'platform:management_tokens' : 'management_tokens:manage';
}

function readScope(
  organizationId: string | undefined,
  role: OrganizationRole | undefined,
): ManagementToken['scope'] | AdminRefusal {
  if (organizationId === undefined) {
    return role === undefined ? undefined : invalid('role', 'role is for tokens of an organization.');
  }
  const known = MANAGEMENT_TOKEN_ROLES.find(
    (candidate): candidate is ManagementTokenRole => candidate === role,
  );
  if (known === undefined) {
    return invalid('role', `role must be one of ${MANAGEMENT_TOKEN_ROLES.join(', ')}.`);
  }
  return { organizationId, role: known };
}

function readExpiresOn(text: string, now: UnixMs): UtcDay | AdminRefusal {
  const last = utcDay((now + MAX_DAYS * DAY_MS) as UnixMs);
  if (isUtcDay(text) && text >= utcDay(now) && text <= last) return text;
  return invalid('expires_on', `expires_on must be a day as YYYY-MM-DD, from today to ${last} (UTC).`);
}
