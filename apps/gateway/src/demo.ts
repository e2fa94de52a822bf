import { createHash, randomBytes } from 'node:crypto';
import { parseUsd } from '@gateway/base';
import {
  MemberRole,
  Scope,
  type Actor,
  type AuthAdminDefinition,
  type AuthDefinition,
  type Organization,
} from '@gateway/contracts/auth';
import { type BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { type RpcClient } from '@gateway/rpc';
import { type DevFile } from './dev-file';

export interface DemoClients {
  readonly auth: RpcClient<typeof AuthDefinition>;
  readonly authAdmin: RpcClient<typeof AuthAdminDefinition>;
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
}

export type DemoCredentials = Pick<DevFile, 'apiKey' | 'adminEmail' | 'adminPassword'>;

const ADMIN_EMAIL = 'admin@gateway.local';
const ORGANIZATION_NAME = 'Demo';
const KEY_NAME = 'Demo key';
const INITIAL_CREDIT_USD = '100';
const PASSWORD_BYTES = 18;
const PAGE_SIZE = 100;

const system: Actor = { id: 'system', label: 'system', ipAddress: '' };

/**
 * Makes sure that there is somebody who can sign in and a key with credit to
 * try. What an earlier start made is used again; what is missing, or no longer
 * works, is made anew.
 */
export async function ensureDemo(
  clients: DemoClients,
  earlier: DemoCredentials | undefined,
): Promise<DemoCredentials> {
  const adminPassword = await ensureAdmin(clients, earlier?.adminPassword);
  const organization = await ensureOrganization(clients);
  await clients.billingLedger.addCredit({
    // The same id at every start: it is added once.
    creditId: `demo-${organization.id}`,
    organizationId: organization.id,
    amountNanoUsd: parseUsd(INITIAL_CREDIT_USD) ?? 0n,
    note: 'credit to try the gateway',
  });
  const apiKey = (await worksFor(clients, organization, earlier?.apiKey))
    ? (earlier?.apiKey as string)
    : await createKey(clients, organization);
  return { apiKey, adminEmail: ADMIN_EMAIL, adminPassword };
}

async function ensureAdmin({ authAdmin }: DemoClients, known: string | undefined): Promise<string> {
  if (known !== undefined) {
    const { outcome } = await authAdmin.signIn({ email: ADMIN_EMAIL, password: known, ipAddress: '' });
    if (outcome?.$case === 'signedIn') {
      await authAdmin.signOut({ sessionToken: outcome.value.sessionToken });
      return known;
    }
  }
  const password = known ?? randomBytes(PASSWORD_BYTES).toString('base64url');
  await authAdmin.ensureMember({
    actor: system,
    email: ADMIN_EMAIL,
    password,
    role: MemberRole.MEMBER_ROLE_OPERATOR,
    resetPassword: true,
  });
  return password;
}

async function ensureOrganization({ authAdmin }: DemoClients): Promise<Organization> {
  let pageToken = '';
  do {
    const page = await authAdmin.listOrganizations({ pageSize: PAGE_SIZE, pageToken });
    const found = page.organizations.find(({ name }) => name === ORGANIZATION_NAME);
    if (found) return found;
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  const { outcome } = await authAdmin.createOrganization({ actor: system, name: ORGANIZATION_NAME });
  if (outcome?.$case !== 'organization') throw new Error('the demo organization could not be created');
  return outcome.value;
}

async function worksFor(
  { auth }: DemoClients,
  organization: Organization,
  apiKey: string | undefined,
): Promise<boolean> {
  if (apiKey === undefined) return false;
  const keySha256 = createHash('sha256').update(apiKey).digest();
  const { outcome } = await auth.verifyKey({ keySha256 });
  return (
    outcome?.$case === 'grant' && !outcome.value.revoked && outcome.value.organizationId === organization.id
  );
}

async function createKey({ authAdmin }: DemoClients, organization: Organization): Promise<string> {
  const { outcome } = await authAdmin.createKey({
    actor: system,
    organizationId: organization.id,
    settings: {
      name: KEY_NAME,
      scopes: [Scope.SCOPE_CHAT, Scope.SCOPE_USAGE_READ],
      allowedModels: [],
      ipAllowlist: [],
      limits: {},
    },
  });
  if (outcome?.$case !== 'created') throw new Error('the demo key could not be created');
  return outcome.value.secret;
}
