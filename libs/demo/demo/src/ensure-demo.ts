import { createHash, randomBytes } from 'node:crypto';
import type { ActingPerson } from '@gateway/actors';
import { parseUsd, retry } from '@gateway/base';
import { MemberRole, type AuthAdminDefinition, type AuthDefinition } from '@gateway/contracts/auth';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { GatewayError } from '@gateway/errors';
import { actAs, type RpcClient } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { DevFile } from './dev-file';

/** Over acting transports. */
export interface DemoClients {
  readonly auth: RpcClient<typeof AuthDefinition>;
  readonly authAdmin: RpcClient<typeof AuthAdminDefinition>;
  readonly billingLedger: RpcClient<typeof BillingLedgerDefinition>;
}

export type DemoCredentials = Pick<DevFile, 'apiKey' | 'adminEmail' | 'adminPassword'>;

export interface Demo extends DemoCredentials {
  /** The version of the administrator's current password. */
  readonly passwordVersion: string;
}

/** The credentials of an earlier start. */
export type EarlierDemo = DemoCredentials & { readonly passwordVersion: string | undefined };

const ADMIN_EMAIL = 'admin@gateway.local';
const ORGANIZATION_NAME = 'Demo';
const KEY_NAME = 'Demo key';
const INITIAL_CREDIT_USD = '100';
const PASSWORD_BYTES = 18;
/** A long timeout per call, for a slow start on a busy machine. */
const CALL_OPTIONS = { timeoutMs: 60_000 };
const BACKOFF = { firstMs: 500, maxMs: 5_000 };

/** Before the administrator exists; only EnsureMember accepts it. */
const SETUP: ActingPerson = {
  id: 'demo',
  label: 'demo',
  ipAddress: '',
  sessionId: '',
  memberRole: 'operator',
};

/**
 * Ensures an administrator, and an organization with credit and an API key. Valid
 * credentials of an earlier start are reused; others are created or reset. Retries
 * while a service is unavailable or slow.
 */
export async function ensureDemo(
  clients: DemoClients,
  earlier: EarlierDemo | undefined,
  log: Pick<Logger, 'warn'>,
): Promise<Demo> {
  return retry(() => setUpDemo(clients, earlier), {
    backoff: BACKOFF,
    isRetryable: isNoCapacity,
    onRetry: (error) => {
      const internal = isNoCapacity(error) ? error.internalMessage : undefined;
      log.warn({ err: error, internal }, 'the demo setup failed; retrying');
    },
  });
}

function isNoCapacity(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'no_capacity';
}

async function setUpDemo(clients: DemoClients, earlier: EarlierDemo | undefined): Promise<Demo> {
  const { memberId, ...admin } = await actAs(SETUP, () => ensureAdmin(clients, earlier));
  const person: ActingPerson = { ...SETUP, id: memberId, label: ADMIN_EMAIL };
  const organizationId = await actAs(person, () => ensureOrganization(clients));
  const apiKey = await actAs({ ...person, organization: { id: organizationId } }, async () => {
    await addInitialCredit(clients, organizationId);
    return (await isValidKey(clients, organizationId, earlier?.apiKey))
      ? (earlier?.apiKey as string)
      : createKey(clients, organizationId);
  });
  return { apiKey, adminEmail: ADMIN_EMAIL, ...admin };
}

async function addInitialCredit({ billingLedger }: DemoClients, organizationId: string): Promise<void> {
  await billingLedger.addCredit(
    {
      // The same id at every start, so the credit is added once.
      creditId: `demo-${organizationId}`,
      organizationId,
      amountNanoUsd: parseUsd(INITIAL_CREDIT_USD) ?? 0n,
      note: 'Initial credit of the demo',
    },
    CALL_OPTIONS,
  );
}

/** Hashing a password uses about 0.2 s of CPU, so it is done only when the password may have changed. */
async function ensureAdmin(
  { authAdmin }: DemoClients,
  earlier: EarlierDemo | undefined,
): Promise<Pick<Demo, 'adminPassword' | 'passwordVersion'> & { readonly memberId: string }> {
  const adminPassword = earlier?.adminPassword ?? randomBytes(PASSWORD_BYTES).toString('base64url');
  const ensure = (resetPassword: boolean) =>
    authAdmin.ensureMember(
      {
        email: ADMIN_EMAIL,
        password: adminPassword,
        role: MemberRole.MEMBER_ROLE_OPERATOR,
        resetPassword,
      },
      CALL_OPTIONS,
    );
  const { created, passwordVersion, member } = await ensure(false);
  if (!member) throw new Error('the response has no member');
  const { id: memberId } = member;
  if (created || passwordVersion === earlier?.passwordVersion)
    return { memberId, adminPassword, passwordVersion };
  return { memberId, adminPassword, passwordVersion: (await ensure(true)).passwordVersion };
}

async function ensureOrganization({ authAdmin }: DemoClients): Promise<string> {
  return (await authAdmin.ensureOrganization({ name: ORGANIZATION_NAME }, CALL_OPTIONS)).organizationId;
}

async function isValidKey(
  { auth }: DemoClients,
  organizationId: string,
  apiKey: string | undefined,
): Promise<boolean> {
  if (apiKey === undefined) return false;
  const keySha256 = createHash('sha256').update(apiKey).digest();
  const { outcome } = await auth.verifyKey({ keySha256 }, CALL_OPTIONS);
  return (
    outcome?.$case === 'grant' && !outcome.value.revoked && outcome.value.organizationId === organizationId
  );
}

async function createKey({ authAdmin }: DemoClients, organizationId: string): Promise<string> {
  const created = await authAdmin.createUnrestrictedKey({ organizationId, name: KEY_NAME }, CALL_OPTIONS);
  return created.secret;
}
