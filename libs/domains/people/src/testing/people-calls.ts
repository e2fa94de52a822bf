import type { ActingPerson } from '@gateway/actors';
import { createAdminClient, type RequestClient } from '@gateway/admin-calls';
import { DashboardError, parts } from '@gateway/dashboard-contract';
import type { RpcTransport } from '@gateway/rpc';
import { actingFor } from '@gateway/test-support';

/** The browser of people in tests. */
export const TEST_CLIENT: RequestClient = {
  ipAddress: '192.0.2.1',
  device: 'a browser',
  dashboardUrl: 'https://dashboard.example.com',
};

/** Calls of the auth service's endpoints for people with and without a session. */
export function createPeopleCalls(transport: RpcTransport, operator: () => ActingPerson) {
  const endpointsFor = (person: () => ActingPerson) => createAdminClient(actingFor(transport, person));
  const endpointsAs = (person: Partial<ActingPerson>) => endpointsFor(() => ({ ...operator(), ...person }));
  const withoutPerson = createAdminClient(transport);
  const personOfSession = (sessionToken: string, access = 'signed_in', organizationId?: string) =>
    withoutPerson.call(parts.authorize, {
      body: {
        ...{ session_token: sessionToken, access, organization_id: organizationId },
        ...{ background: false, confirmed: false },
      },
      client: TEST_CLIENT,
    });
  return {
    /** Calls of people without a session. */
    withoutPerson,
    signIn: (email: string, password: string, code?: string, client?: Partial<RequestClient>) =>
      withoutPerson.call(parts.signIn, {
        body: { email, password, code },
        client: { ...TEST_CLIENT, ...client },
      }),
    /** Whether a session has the access; otherwise the error's code. */
    accessOf: (sessionToken: string, access: string, organizationId?: string) =>
      codeOf(personOfSession(sessionToken, access, organizationId)).then((code) => code ?? 'allowed'),
    isSignedIn: async (sessionToken: string) => (await codeOf(personOfSession(sessionToken))) === undefined,
    personOfSession,
    /** Acts for the person of a session. */
    async endpointsOf(sessionToken: string) {
      const { member, session_id: sessionId } = await personOfSession(sessionToken);
      return endpointsAs({ id: member.id, label: member.email, memberRole: member.role, sessionId });
    },
    /** Acts for an operator. */
    endpoints: endpointsFor(operator),
    endpointsAs,
  };
}

/** Inserts a session of the operator that stays confirmed, however far a test moves the clock. */
export const INSERT_OPERATOR_SESSION = `insert into sessions
  (token_sha256, id, member_id, device, ip_address, signed_in_by, created_at, last_seen_at, expires_at, confirmed_at)
  values ('\\x00', $1, $2, '', '', 'password', now(), now(), '2100-01-01', '2100-01-01')`;

/** Why an endpoint refused; undefined if it did not. */
export const codeOf = (call: Promise<unknown>): Promise<string | undefined> =>
  call.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof DashboardError) return error.code;
      throw error;
    },
  );
