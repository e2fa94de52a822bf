import { RpcError } from '@gateway/rpc';
import { createSilentLogger } from '@gateway/runtime';
import { ensureDemo, type DemoClients, type EarlierDemo } from './ensure-demo';

const log = createSilentLogger();
const EARLIER: EarlierDemo = {
  apiKey: 'sk-gw-demo',
  adminEmail: 'admin@gateway.local',
  adminPassword: 'correct horse',
  passwordVersion: 'v1',
};

/** Services that know the demo already. The calls are by name; some methods can be replaced. */
function services(changes: Record<string, (request: Record<string, unknown>) => Promise<unknown>> = {}) {
  const calls: string[] = [];
  const answers: typeof changes = {
    ensureMember: async () => ({ member: undefined, created: false, passwordVersion: 'v1' }),
    signIn: async () => ({ outcome: { $case: 'signedIn', value: { sessionToken: 'token' } } }),
    signOut: async () => ({}),
    listOrganizations: async () => ({
      organizations: [{ id: 'org-1', name: 'Demo' }],
      nextPageToken: '',
    }),
    addCredit: async () => ({}),
    verifyKey: async () => ({
      outcome: { $case: 'grant', value: { revoked: false, organizationId: 'org-1' } },
    }),
    ...changes,
  };
  const client = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (request: Record<string, unknown>) => {
        calls.push(request.resetPassword === true ? `${name} with reset` : name);
        return answer(request);
      },
    ]),
  );
  return {
    calls,
    clients: { auth: client, authAdmin: client, billingLedger: client } as unknown as DemoClients,
  };
}

describe('setting up the demo', () => {
  it('goes on when services are slow or away, so that no start dies of a deadline', async () => {
    const failures = [new RpcError('deadline_exceeded', 'slow'), new RpcError('unavailable', 'away')];
    const { clients } = services({
      ensureMember: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return { member: undefined, created: false, passwordVersion: 'v1' };
      },
    });
    expect(await ensureDemo(clients, EARLIER, log)).toEqual(EARLIER);
    expect(failures).toEqual([]);
  });

  it('does not go on after a fault that will not pass', async () => {
    const { clients } = services({ addCredit: () => Promise.reject(new Error('a bug')) });
    await expect(ensureDemo(clients, EARLIER, log)).rejects.toThrow('a bug');
  });

  it('neither checks nor hashes a password that did not change', async () => {
    const { clients, calls } = services();
    expect(await ensureDemo(clients, EARLIER, log)).toEqual(EARLIER);
    expect(calls).toEqual(['ensureMember', 'listOrganizations', 'addCredit', 'verifyKey']);
  });

  it('checks a password once when it cannot tell whether it changed', async () => {
    const { clients, calls } = services();
    const demo = await ensureDemo(clients, { ...EARLIER, passwordVersion: undefined }, log);
    expect(demo).toEqual(EARLIER);
    expect(calls).toContain('signIn');
    expect(calls).not.toContain('ensureMember with reset');
  });

  it('sets the password that it tells, when another was set in between or none is known', async () => {
    for (const earlier of [{ ...EARLIER, passwordVersion: 'v0' }, undefined]) {
      const { clients, calls } = services({
        signIn: async () => ({ outcome: { $case: 'refused', value: {} } }),
        createKey: async () => ({ outcome: { $case: 'created', value: { secret: 'sk-gw-new' } } }),
        ensureMember: async ({ resetPassword }) => ({
          member: undefined,
          created: false,
          passwordVersion: resetPassword ? 'v2' : 'v1',
        }),
      });
      expect(await ensureDemo(clients, earlier, log)).toMatchObject({ passwordVersion: 'v2' });
      expect(calls).toContain('ensureMember with reset');
    }
  });
});
