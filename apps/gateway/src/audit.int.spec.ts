import type { ActingPerson, CallActor } from '@gateway/actors';
import { createAdminClient, type AdminClient } from '@gateway/admin-calls';
import { AUTH_SCHEMA } from '@gateway/auth';
import { AdminDefinition } from '@gateway/contracts/admin';
import { AuthAdminDefinition, MemberRole } from '@gateway/contracts/auth';
import { isOpenToManagementTokens, isPermission } from '@gateway/base';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { AUDITED, PERMISSIONS, WITHOUT_PERSON } from '@gateway/contracts/callers';
import { DeadLettersDefinition } from '@gateway/contracts/events';
import {
  allEndpoints,
  allParts,
  endpoints,
  nameOf as endpointName,
  parts,
} from '@gateway/dashboard-contract';
import { createPool } from '@gateway/database';
import { createClient, type ServiceDefinition } from '@gateway/rpc';
import { newId } from '@gateway/runtime';
import { inProcessFor, NO_LIMITS, TEST_OPERATOR } from '@gateway/test-support';
import { TOTP } from 'otpauth';
import type { Pool } from 'pg';
import { startFleet, type Fleet } from './testing/fleet';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'quite another one';

/** Changes nothing that the audit log is about. */
const NOT_AUDITED: Readonly<Record<string, string>> = {
  [endpointName(parts.authorize)]: 'records when a session was last seen',
  [endpointName(parts.authorizeManagementToken)]: 'records when a token was last used',
  [endpointName(endpoints.session.confirm)]: 'records when a session was confirmed',
  [endpointName(parts.countEmails)]: 'counts emails',
  [endpointName(parts.startOidc)]: 'stores the state of a sign-in in flight',
  [endpointName(endpoints.session.invitation)]: 'counts attempts',
  [endpointName(endpoints.credit.previewCorrection)]: 'moves no money',
  [endpointName(parts.catalogueCheck)]: 'changes nothing',
  [endpointName(endpoints.catalogue.entries)]: 'changes nothing',
  [endpointName(endpoints.catalogue.editEntry)]: 'changes nothing',
  [endpointName(endpoints.catalogue.proposePrices)]: 'changes nothing',
};
/** These need an identity provider, a mail server or a generation; the named specs check their entries. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  [endpointName(parts.finishOidc)]: 'dashboard-single-sign-on.int.spec.ts',
  [endpointName(endpoints.contentLog.read)]: 'content-log.e2e.spec.ts',
  [endpointName(endpoints.contentLog.erase)]: 'content-log.int.spec.ts',
  [endpointName(endpoints.session.requestPasswordReset)]: 'dashboard-email.int.spec.ts',
};

let fleet: Fleet;
let pool: Pool;
let operator: ActingPerson;
let organizationId: string;
/** The person of `operator` unless a case changes it. */
let actor: CallActor;

const transportTo = (moduleName: string) => {
  const module = fleet.modules.inOrder.find(({ name }) => name === moduleName);
  return inProcessFor(module?.services ?? [], () => actor);
};
const clientOf = <Definition extends ServiceDefinition>(definition: Definition, moduleName: string) =>
  createClient(definition, transportTo(moduleName));
const ownerOf = (moduleName: string) => createAdminClient(transportTo(moduleName));
const inOrganization = () => ({ params: { organization_id: organizationId } });
const auth = () => clientOf(AuthAdminDefinition, 'auth');
const ledger = () => clientOf(BillingLedgerDefinition, 'billing-ledger');
const statements = () => ownerOf('statements');
const authEndpoints = () => ownerOf('auth');
const deadLetters = () => clientOf(DeadLettersDefinition, 'billing-ledger');
const router = () => ownerOf('inference-router');

beforeAll(async () => {
  // The models file becomes version 1.
  fleet = await startFleet({ GATEWAY_CATALOGUE: 'database' });
  pool = createPool({
    url: fleet.databaseUrl,
    schema: AUTH_SCHEMA,
    applicationName: 'test',
    maxConnections: 2,
  });
  actor = TEST_OPERATOR;
  operator = { ...TEST_OPERATOR, id: await memberWith(TEST_OPERATOR.label, MemberRole.MEMBER_ROLE_OPERATOR) };
  operator = { ...operator, sessionId: await sessionOf(await signIn(TEST_OPERATOR.label)) };
  actor = operator;
  organizationId = await organization('Audited');
});
afterAll(async () => {
  await pool?.end();
  await fleet?.close();
});
beforeEach(() => (actor = operator));

async function memberWith(email: string, role = MemberRole.MEMBER_ROLE_MEMBER): Promise<string> {
  const { member } = await auth().ensureMember({ email, password: PASSWORD, role, resetPassword: false });
  return member?.id ?? '';
}

/** A signed-in member of the organization. */
async function person() {
  const email = `${newId('p').toLowerCase()}@example.com`;
  const id = await memberWith(email);
  await pool.query(`insert into memberships values ($1, $2, 'member', now())`, [organizationId, id]);
  return { id, email, sessionToken: await signIn(email) };
}

const signIn = async (email: string) =>
  (await authEndpoints().call(parts.signIn, { body: { email, password: PASSWORD } })).session_token;

async function sessionOf(sessionToken: string): Promise<string> {
  const body = { session_token: sessionToken, access: 'signed_in', background: false, confirmed: false };
  return (await authEndpoints().call(parts.authorize, { body })).session_id;
}

/** The member acts for themselves. */
async function actAsSelf(self: Pick<Awaited<ReturnType<typeof person>>, 'id' | 'email' | 'sessionToken'>) {
  const person: ActingPerson = {
    ...{ ...operator, id: self.id, label: self.email },
    ...{ sessionId: await sessionOf(self.sessionToken), memberRole: 'member' },
  };
  actor = person;
  return person;
}

/** A case in which a new member of the organization acts for themselves. */
const bySelf = (
  call: (client: AdminClient) => Promise<unknown>,
  prepare: () => Promise<Parameters<typeof actAsSelf>[0]> = person,
): Case => {
  return async () => {
    const author = await actAsSelf(await prepare());
    return { author, call: () => call(authEndpoints()) };
  };
};

/** Operators lack what is closed to them, unless they have a role in the organization. */
function actAsOwner(): void {
  actor = { ...operator, organization: { id: organizationId, role: 'owner' } };
}

const newKey = () => ({ ...inOrganization(), body: { name: 'key', scopes: ['chat' as const] } });

async function key(): Promise<string> {
  return (await authEndpoints().call(endpoints.keys.create, newKey())).key.id;
}

const ofKey = (keyId: string) => ({ params: { ...inOrganization().params, key_id: keyId } });

async function project(): Promise<string> {
  const creation = { ...inOrganization(), body: { name: 'Project' } };
  return (await authEndpoints().call(endpoints.projects.create, creation)).project.id;
}

async function rotatedKey(): Promise<string> {
  const keyId = await key();
  const until = new Date(Date.now() + 3_600_000).toISOString();
  await authEndpoints().call(endpoints.keys.rotate, {
    ...ofKey(keyId),
    body: { previous_works_until: until },
  });
  return keyId;
}

const setWebhook = () =>
  authEndpoints().call(endpoints.notifications.set, {
    body: { email_enabled: false, extra_emails: [], webhook_url: 'https://hooks.invalid/incidents' },
  });

async function invitationTo(email: string): Promise<{ readonly id: string; readonly token: string }> {
  const wanted = { ...inOrganization(), body: { email, role: 'member' as const } };
  const { invitation, link } = await authEndpoints().call(endpoints.people.invite, wanted);
  return { id: invitation.id, token: link.split('#')[1] ?? '' };
}

/** The token of a new link. */
async function createResetLink(memberId: string): Promise<string> {
  const target = { ...ofPerson(memberId), body: {} };
  const { link } = await authEndpoints().call(endpoints.people.createPasswordResetLink, target);
  return link.split('#')[1] ?? '';
}

async function secondFactor() {
  const self = await person();
  await actAsSelf(self);
  const { secret } = await authEndpoints().call(endpoints.account.enrolTotp, {
    body: { password: PASSWORD },
  });
  return { ...self, code: new TOTP({ secret }).generate() };
}

async function confirmedSecondFactor() {
  const { code, ...self } = await secondFactor();
  const confirmed = await authEndpoints().call(parts.confirmTotp, { body: { code } });
  const both = { body: { password: PASSWORD, code: confirmed.recovery_codes[0] ?? '' } };
  return { ...self, sessionToken: confirmed.session_token, both };
}

async function organization(name: string): Promise<string> {
  return (await authEndpoints().call(endpoints.organizations.create, { body: { name } })).organization.id;
}
/** Another organization. */
const other = async (name: string) => ({ params: { organization_id: await organization(name) } });

const ofPerson = (id: string) => ({ params: { member_id: id } });
const ofMember = (id: string) => ({ params: { ...inOrganization().params, member_id: id } });

const mapDomain = (domain: string) =>
  authEndpoints().call(endpoints.people.mapDomain, {
    params: { ...inOrganization().params, domain },
    body: { role: 'member' },
  });

/** A token that reads and changes; without an organization, of the platform. */
async function createToken(ofOrganization?: string): Promise<string> {
  const body = {
    ...{ name: 'automation', access: 'read_write' as const },
    expires_on: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10),
  };
  const { create, createPlatform } = endpoints.managementTokens;
  const { token } = await (ofOrganization === undefined
    ? authEndpoints().call(createPlatform, { body })
    : authEndpoints().call(create, { ...inOrganization(), body: { ...body, role: 'admin' } }));
  return token.id;
}

async function linkIdentity(memberId: string): Promise<string> {
  const issuer = `https://${newId('idp').toLowerCase()}.example`;
  await pool.query(`insert into member_identities values ($1, $2, $3, now())`, [issuer, memberId, memberId]);
  return issuer;
}

async function credit(amountNanoUsd = 1_000n): Promise<void> {
  await ledger().addCredit({ creditId: newId('crd'), organizationId, amountNanoUsd, note: '' });
}

const setAlert = () =>
  statements().call(endpoints.credit.setAlert, {
    ...inOrganization(),
    body: { threshold_usd: '0.000000005', webhook_url: null, emails: ['a@b.example'] },
  });

async function deadLetter() {
  const ref = { topic: 'generation.finished', group: 'billing-ledger', position: BigInt(Date.now()) };
  await pool.query(
    `insert into event_log.dead_letters (topic, group_name, position, key, payload, headers, reason, dead_lettered_at, failed_at)
     values ($1, $2, $3, 'org', '', '{}', 'a test', now(), now())`,
    [ref.topic, ref.group, ref.position],
  );
  return ref;
}

async function target() {
  const { catalogue } = await router().call(endpoints.operator.catalogue);
  const found = catalogue.models[0]?.targets[0];
  return { provider: found?.provider ?? '', provider_model: found?.provider_model ?? '' };
}

/** Makes each change differ from the one before. */
let changes = 0;

const catalogueState = () => router().call(endpoints.catalogue.state);

/** Saves a draft with the text in effect. @returns its revision. */
async function catalogueDraft(): Promise<number> {
  const { text, draft } = await catalogueState();
  const body = { text: `${text}# A change.\n`, expected_revision: draft?.revision ?? 0 };
  return (await router().call(endpoints.catalogue.saveDraft, { body })).draft.revision;
}

async function expectedVersion() {
  return { expected_version: (await catalogueState()).version?.version ?? 0, comment: 'a test' };
}

const setSecret = (name: string) =>
  router().call(endpoints.catalogue.setSecret, { body: { name, value: `sk-${name}` } });

/** Each prepares its state and returns the audited call. `self` is the author when that is not the operator. */
type Case = () => Promise<{
  readonly call: () => Promise<unknown>;
  readonly author?: { readonly id: string };
}>;

const CASES: Readonly<Record<string, Case>> = {
  EnsureMember: async () => ({ call: () => memberWith(`${newId('p').toLowerCase()}@example.com`) }),
  [endpointName(parts.signIn)]: async () => {
    const self = await person();
    return { author: self, call: () => signIn(self.email) };
  },
  [endpointName(endpoints.session.signOut)]: bySelf((client) =>
    client.call(endpoints.session.signOut, { body: {} }),
  ),
  [endpointName(endpoints.session.end)]: async () => {
    const author = await actAsSelf(await person());
    const target = { params: { session_id: author.sessionId }, body: {} };
    return { author, call: () => authEndpoints().call(endpoints.session.end, target) };
  },
  [endpointName(endpoints.session.endOthers)]: bySelf(
    (client) => client.call(endpoints.session.endOthers, { body: {} }),
    async () => {
      const self = await person();
      await signIn(self.email);
      return self;
    },
  ),
  [endpointName(endpoints.people.setMemberRole)]: async () => {
    const target = ofMember((await person()).id);
    const body = { role: 'admin' as const };
    return { call: () => authEndpoints().call(endpoints.people.setMemberRole, { ...target, body }) };
  },
  [endpointName(endpoints.people.removeMember)]: async () => {
    const target = ofMember((await person()).id);
    return { call: () => authEndpoints().call(endpoints.people.removeMember, { ...target, body: {} }) };
  },
  [endpointName(endpoints.people.leave)]: async () => {
    const author = await actAsSelf(await person());
    actor = { ...author, organization: { id: organizationId, role: 'member' } };
    const leaving = { ...inOrganization(), body: {} };
    return { author, call: () => authEndpoints().call(endpoints.people.leave, leaving) };
  },
  [endpointName(endpoints.managementTokens.create)]: async () => ({
    call: () => createToken(organizationId),
  }),
  [endpointName(endpoints.managementTokens.createPlatform)]: async () => ({ call: () => createToken() }),
  [endpointName(endpoints.managementTokens.revoke)]: async () => {
    const params = { ...inOrganization().params, token_id: await createToken(organizationId) };
    const revoke = { params, body: {} };
    return { call: () => authEndpoints().call(endpoints.managementTokens.revoke, revoke) };
  },
  [endpointName(endpoints.managementTokens.revokePlatform)]: async () => {
    const revoke = { params: { token_id: await createToken() }, body: {} };
    return { call: () => authEndpoints().call(endpoints.managementTokens.revokePlatform, revoke) };
  },
  [endpointName(endpoints.people.mapDomain)]: async () => ({ call: () => mapDomain('mapped.example') }),
  [endpointName(endpoints.people.unmapDomain)]: async () => {
    await mapDomain('unmapped.example');
    const params = { ...inOrganization().params, domain: 'unmapped.example' };
    return { call: () => authEndpoints().call(endpoints.people.unmapDomain, { params, body: {} }) };
  },
  [endpointName(endpoints.people.invite)]: async () => ({ call: () => invitationTo('invited@example.com') }),
  [endpointName(endpoints.people.revokeInvitation)]: async () => {
    const { id } = await invitationTo('revoked@example.com');
    const params = { ...inOrganization().params, invitation_id: id };
    return { call: () => authEndpoints().call(endpoints.people.revokeInvitation, { params, body: {} }) };
  },
  [endpointName(parts.acceptInvitation)]: async () => {
    const self = await person();
    await pool.query('delete from memberships where member_id = $1', [self.id]);
    const body = { token: (await invitationTo(self.email)).token, session_token: self.sessionToken };
    return { author: self, call: () => authEndpoints().call(parts.acceptInvitation, { body }) };
  },
  [endpointName(endpoints.account.changeProfile)]: bySelf((client) =>
    client.call(endpoints.account.changeProfile, { body: { name: 'Ada' } }),
  ),
  [endpointName(parts.changePassword)]: bySelf((client) =>
    client.call(parts.changePassword, { body: { current_password: PASSWORD, new_password: NEW_PASSWORD } }),
  ),
  [endpointName(endpoints.people.createPasswordResetLink)]: async () => {
    const { id } = await person();
    return { call: () => createResetLink(id) };
  },
  [endpointName(endpoints.session.resetPassword)]: async () => {
    const self = await person();
    const body = { token: await createResetLink(self.id), password: NEW_PASSWORD };
    return { author: self, call: () => authEndpoints().call(endpoints.session.resetPassword, { body }) };
  },
  [endpointName(endpoints.account.enrolTotp)]: bySelf((client) =>
    client.call(endpoints.account.enrolTotp, { body: { password: PASSWORD } }),
  ),
  [endpointName(parts.confirmTotp)]: async () => {
    const self = await secondFactor();
    const body = { code: self.code };
    return { author: self, call: () => authEndpoints().call(parts.confirmTotp, { body }) };
  },
  [endpointName(endpoints.account.renewRecoveryCodes)]: async () => {
    const self = await confirmedSecondFactor();
    const author = await actAsSelf(self);
    return { author, call: () => authEndpoints().call(endpoints.account.renewRecoveryCodes, self.both) };
  },
  [endpointName(endpoints.account.removeTotp)]: async () => {
    const self = await confirmedSecondFactor();
    const author = await actAsSelf(self);
    return { author, call: () => authEndpoints().call(endpoints.account.removeTotp, self.both) };
  },
  [endpointName(endpoints.account.unlinkIdentity)]: async () => {
    const author = await actAsSelf(await person());
    const body = { issuer: await linkIdentity(author.id), password: PASSWORD };
    return { author, call: () => authEndpoints().call(endpoints.account.unlinkIdentity, { body }) };
  },
  [endpointName(endpoints.people.unlinkPersonIdentity)]: async () => {
    const { id } = await person();
    const unlink = { ...ofPerson(id), body: { issuer: await linkIdentity(id) } };
    return { call: () => authEndpoints().call(endpoints.people.unlinkPersonIdentity, unlink) };
  },
  [endpointName(endpoints.people.resetSecondFactor)]: async () => {
    const { id } = await confirmedSecondFactor();
    actor = operator;
    return {
      call: () => authEndpoints().call(endpoints.people.resetSecondFactor, { ...ofPerson(id), body: {} }),
    };
  },
  [endpointName(endpoints.people.setDisabled)]: async () => {
    const { id } = await person();
    return {
      call: () =>
        authEndpoints().call(endpoints.people.setDisabled, { ...ofPerson(id), body: { disabled: true } }),
    };
  },
  [endpointName(endpoints.people.endSessions)]: async () => {
    const { id } = await person();
    return { call: () => authEndpoints().call(endpoints.people.endSessions, { ...ofPerson(id), body: {} }) };
  },
  [endpointName(endpoints.organizations.setSecondFactorRequired)]: async () => {
    const change = { ...(await other('Careful')), body: { required: true } };
    return { call: () => authEndpoints().call(endpoints.organizations.setSecondFactorRequired, change) };
  },
  [endpointName(endpoints.organizations.setTargetRules)]: async () => {
    const lists = { allowed_providers: [], denied_providers: [], allowed_regions: [] };
    const body = { ...lists, denied_regions: [`region-${(changes += 1)}`] };
    return {
      call: () => authEndpoints().call(endpoints.organizations.setTargetRules, { ...inOrganization(), body }),
    };
  },
  [endpointName(endpoints.organizations.update)]: async () => {
    const change = { ...(await other('Before')), body: { name: 'After' } };
    return { call: () => authEndpoints().call(endpoints.organizations.update, change) };
  },
  [endpointName(endpoints.organizations.setElasticHolds)]: async () => {
    const change = { ...(await other('Elastic')), body: { enabled: true } };
    return { call: () => authEndpoints().call(endpoints.organizations.setElasticHolds, change) };
  },
  [endpointName(endpoints.organizations.setUsageTags)]: async () => {
    const change = { ...(await other('Tagged')), body: { usage_tags: ['customer_id'] } };
    return { call: () => authEndpoints().call(endpoints.organizations.setUsageTags, change) };
  },
  [endpointName(endpoints.people.setOperator)]: async () => {
    const { id } = await person();
    return {
      call: () =>
        authEndpoints().call(endpoints.people.setOperator, { ...ofPerson(id), body: { operator: true } }),
    };
  },
  EnsureOrganization: async () => ({
    call: () => auth().ensureOrganization({ name: 'Ensured' + newId('o') }),
  }),
  [endpointName(endpoints.organizations.create)]: async () => ({ call: () => organization('Another') }),
  [endpointName(endpoints.organizations.setLimits)]: async () => {
    const body = { ...NO_LIMITS, requests_per_minute: (changes += 1) };
    return {
      call: () => authEndpoints().call(endpoints.organizations.setLimits, { ...inOrganization(), body }),
    };
  },
  [endpointName(endpoints.projects.create)]: async () => ({ call: project }),
  [endpointName(endpoints.projects.update)]: async () => {
    const params = { ...inOrganization().params, project_id: await project() };
    const change = { params, body: { name: 'Renamed', daily_budget_usd: null, weekly_budget_usd: null } };
    return { call: () => authEndpoints().call(endpoints.projects.update, change) };
  },
  [endpointName(endpoints.projects.archive)]: async () => {
    const params = { ...inOrganization().params, project_id: await project() };
    return { call: () => authEndpoints().call(endpoints.projects.archive, { params, body: {} }) };
  },
  [endpointName(endpoints.organizations.setCeilings)]: async () => {
    const body = { ...NO_LIMITS, requests_per_minute: 9_000 + (changes += 1), multiple_completions: true };
    return {
      call: () => authEndpoints().call(endpoints.organizations.setCeilings, { ...inOrganization(), body }),
    };
  },
  [endpointName(endpoints.organizations.suspend)]: async () => {
    const suspension = { ...(await other('Suspended')), body: { reason: 'x' } };
    return { call: () => authEndpoints().call(endpoints.organizations.suspend, suspension) };
  },
  [endpointName(endpoints.organizations.resume)]: async () => {
    const of = await other('Resumed');
    await authEndpoints().call(endpoints.organizations.suspend, { ...of, body: {} });
    return { call: () => authEndpoints().call(endpoints.organizations.resume, { ...of, body: {} }) };
  },
  CreateUnrestrictedKey: async () => ({
    call: () => auth().createUnrestrictedKey({ organizationId, name: 'key' }),
  }),
  [endpointName(endpoints.keys.create)]: async () => ({ call: key }),
  [endpointName(parts.playgroundKey)]: async () => {
    const self = await person();
    await pool.query(`update memberships set role = 'admin' where member_id = $1`, [self.id]);
    const author = await actAsSelf(self);
    actor = { ...author, organization: { id: organizationId, role: 'admin' } };
    return {
      author,
      call: () => authEndpoints().call(parts.playgroundKey, { ...inOrganization(), body: {} }),
    };
  },
  [endpointName(endpoints.keys.update)]: async () => {
    const change = { ...ofKey(await key()), body: { name: 'renamed' } };
    return { call: () => authEndpoints().call(endpoints.keys.update, change) };
  },
  [endpointName(endpoints.keys.transfer)]: async () => {
    const { id: memberId } = await person();
    await pool.query(`update memberships set role = 'developer' where member_id = $1`, [memberId]);
    const transfer = { ...ofKey(await key()), body: { member_id: memberId } };
    return { call: () => authEndpoints().call(endpoints.keys.transfer, transfer) };
  },
  [endpointName(endpoints.keys.revoke)]: async () => {
    const revocation = { ...ofKey(await key()), body: {} };
    return { call: () => authEndpoints().call(endpoints.keys.revoke, revocation) };
  },
  [endpointName(endpoints.keys.rotate)]: async () => {
    const rotation = { ...ofKey(await key()), body: { previous_works_until: null } };
    return { call: () => authEndpoints().call(endpoints.keys.rotate, rotation) };
  },
  [endpointName(endpoints.keys.endPreviousSecret)]: async () => {
    const target = { ...ofKey(await rotatedKey()), body: {} };
    return { call: () => authEndpoints().call(endpoints.keys.endPreviousSecret, target) };
  },
  AddCredit: async () => {
    const added = { creditId: newId('crd'), organizationId, amountNanoUsd: 5n, note: 'a test' };
    // A repeated call adds nothing, so it leaves no second entry.
    return { call: async () => [await ledger().addCredit(added), await ledger().addCredit(added)] };
  },
  [endpointName(endpoints.credit.add)]: async () => {
    const added = {
      ...inOrganization(),
      body: { amount_usd: '0.000000005', note: 'a test' },
      headers: { 'idempotency-key': newId('key') },
    };
    const add = () => statements().call(endpoints.credit.add, added);
    // A repeated call adds nothing, so it leaves no second entry.
    return { call: async () => [await add(), await add()] };
  },
  [endpointName(endpoints.credit.correct)]: async () => {
    await credit();
    const body = { amount_usd: '0.000000005', reason: 'a test' };
    const { confirmation_token } = await statements().call(endpoints.credit.previewCorrection, {
      ...inOrganization(),
      body,
    });
    const correct = () =>
      statements().call(endpoints.credit.correct, {
        ...inOrganization(),
        body: { ...body, confirmation_token },
      });
    return { call: async () => [await correct(), await correct()] };
  },
  [endpointName(endpoints.credit.setAlert)]: async () => ({ call: setAlert }),
  [endpointName(endpoints.credit.testAlert)]: async () => {
    await setAlert();
    return { call: () => statements().call(endpoints.credit.testAlert, { ...inOrganization(), body: {} }) };
  },
  [endpointName(endpoints.notifications.set)]: async () => ({ call: () => setWebhook() }),
  [endpointName(endpoints.notifications.test)]: async () => {
    await setWebhook();
    return { call: () => authEndpoints().call(endpoints.notifications.test, { body: {} }) };
  },
  RedeliverDeadLetter: async () => {
    const ref = await deadLetter();
    return { call: () => deadLetters().redeliverDeadLetter({ ref }) };
  },
  DiscardDeadLetter: async () => {
    const ref = await deadLetter();
    return { call: () => deadLetters().discardDeadLetter({ ref, reason: 'a test' }) };
  },
  [endpointName(endpoints.operator.disableModel)]: async () => {
    const disable = (disabled: boolean) =>
      router().call(endpoints.operator.disableModel, {
        body: { model: 'demo/vision', disabled, reason: 'x' },
      });
    await disable(false);
    return { call: () => disable(true) };
  },
  [endpointName(endpoints.operator.drainTarget)]: async () => {
    const of = await target();
    const drain = (drained: boolean) =>
      router().call(endpoints.operator.drainTarget, { body: { ...of, drained, reason: 'a test' } });
    await drain(false);
    return { call: () => drain(true) };
  },
  [endpointName(endpoints.contentLog.set)]: async () => {
    actAsOwner();
    const body = { enabled: true, retention_days: 1 + (changes += 1) };
    return { call: () => router().call(endpoints.contentLog.set, { ...inOrganization(), body }) };
  },
  [endpointName(endpoints.contentLog.eraseAll)]: async () => {
    actAsOwner();
    return { call: () => router().call(endpoints.contentLog.eraseAll, { ...inOrganization(), body: {} }) };
  },
  [endpointName(endpoints.catalogue.saveDraft)]: async () => ({ call: catalogueDraft }),
  [endpointName(endpoints.catalogue.discardDraft)]: async () => {
    const body = { expected_revision: await catalogueDraft() };
    return { call: () => router().call(endpoints.catalogue.discardDraft, { body }) };
  },
  [endpointName(endpoints.catalogue.publish)]: async () => {
    const body = { draft_revision: await catalogueDraft(), ...(await expectedVersion()) };
    return { call: () => router().call(endpoints.catalogue.publish, { body }) };
  },
  [endpointName(endpoints.catalogue.rollBack)]: async () => {
    const body = { version: 1, ...(await expectedVersion()) };
    return { call: () => router().call(endpoints.catalogue.rollBack, { body }) };
  },
  [endpointName(endpoints.catalogue.setSecret)]: async () => ({ call: () => setSecret('audited') }),
  [endpointName(endpoints.catalogue.deleteSecret)]: async () => {
    await setSecret('deleted');
    const deletion = { params: { secret_name: 'deleted' }, body: {} };
    return { call: () => router().call(endpoints.catalogue.deleteSecret, deletion) };
  },
  [endpointName(endpoints.catalogue.test)]: async () => {
    const body = { text: (await catalogueState()).text, model: 'demo/vision', target: 0 };
    return { call: () => router().call(endpoints.catalogue.test, { body }) };
  },
};

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actor_id: string;
}

async function entries(): Promise<readonly Entry[]> {
  const tables = ['auth', 'billing_ledger', 'event_log', 'inference_router'];
  const { rows } = await pool.query<Entry>(
    tables.map((schema) => `select id, action, actor_id from ${schema}.audit_entries`).join(' union all '),
  );
  return rows;
}

const nameOf = (rpc: string) => rpc.split('/')[1] ?? '';
const isOfAdmin = (rpc: string) => rpc.startsWith(`${AdminDefinition.fullName}/`);

/** The endpoints that services serve over `Admin`, by method and path. */
const owned = [...allEndpoints(), ...allParts()].filter(({ owner }) => owner !== undefined);

/** What each method and endpoint records. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = Object.fromEntries([
  ...Object.entries(AUDITED).map(([rpc, action]) => [nameOf(rpc), [action]]),
  ...owned.flatMap((endpoint) => (endpoint.audit ? [[endpointName(endpoint), endpoint.audit]] : [])),
]);

it('every method and endpoint that changes something for people is audited', () => {
  const audited = Object.keys(ACTIONS);
  expect(audited.sort()).toEqual([...Object.keys(CASES), ...Object.keys(ELSEWHERE)].sort());
  const reading = [
    ...[...Object.keys(PERMISSIONS), ...Object.keys(WITHOUT_PERSON)]
      .filter((rpc) => !isOfAdmin(rpc))
      .map(nameOf),
    ...owned.map(endpointName),
  ].filter((name) => !audited.includes(name) && !Object.hasOwn(NOT_AUDITED, name));
  expect(reading.filter((name) => !/^(Get|GET|List|Count|Watch|Verify)/.test(name))).toEqual([]);
});

it.each(Object.entries(CASES))(
  '%s leaves exactly one entry, of the verified person',
  async (name, prepare) => {
    const { call, author = operator } = await prepare();
    const before = new Set((await entries()).map(({ id }) => id));
    await call();
    const added = (await entries()).filter(({ id }) => !before.has(id));
    expect(added.filter((entry) => ACTIONS[name]?.includes(entry.action))).toEqual([
      expect.objectContaining({ actor_id: author.id }),
    ]);
    expect(new Set(added.map((entry) => entry.actor_id))).toEqual(new Set([author.id]));
  },
);

/** The case does what only a person may: it grants the role admin, and confirms a preview of the operator. */
const BY_A_PERSON = [endpointName(endpoints.people.setMemberRole), endpointName(endpoints.credit.correct)];

const openToTokens = Object.entries(CASES).filter(([name]) => {
  if (BY_A_PERSON.includes(name)) return false;
  const endpoint = owned.find((each) => endpointName(each) === name);
  const [, ofMethod = ''] = Object.entries(PERMISSIONS).find(([rpc]) => nameOf(rpc) === name) ?? [];
  const permission = endpoint?.access ?? ofMethod;
  return isPermission(permission) && isOpenToManagementTokens(permission, 'read_write', 'change');
});

it('the changes open to management tokens are among these', () =>
  expect(openToTokens.length).toBeGreaterThan(15));

it.each(openToTokens)('%s by a management token leaves an entry of the token', async (_name, prepare) => {
  const { call } = await prepare();
  const { sessionId: _none, tokenAccess: _person, ...fields } = operator;
  const id = await createToken();
  const before = new Set((await entries()).map((entry) => entry.id));
  actor = { ...fields, id, label: 'automation (token of ops)', tokenAccess: 'read_write' };
  await call();
  const added = (await entries()).filter((entry) => !before.has(entry.id));
  expect(added.length).toBeGreaterThan(0);
  expect(new Set(added.map((entry) => entry.actor_id))).toEqual(new Set([id]));
});

it('a change whose entry cannot be written is rolled back', async () => {
  const balance = async () => (await ledger().getBalance({ organizationId })).totalCreditsNanoUsd;
  const before = await balance();
  await pool.query(`
    create function refuse_audit() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
    create trigger refuse_audit before insert on billing_ledger.audit_entries
      for each row execute function refuse_audit()`);
  await expect(credit()).rejects.toMatchObject({ code: 'internal_error' });
  await pool.query('drop trigger refuse_audit on billing_ledger.audit_entries');
  expect(await balance()).toBe(before);
});
