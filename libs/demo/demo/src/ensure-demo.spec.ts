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

/** Services with an existing demo. Records calls by name; `changes` replaces methods. */
function services(changes: Record<string, (request: Record<string, unknown>) => Promise<unknown>> = {}) {
  const calls: string[] = [];
  const methods: typeof changes = {
    ensureMember: async () => ({ member: { id: 'mem-1' }, created: false, passwordVersion: 'v1' }),
    ensureOrganization: async () => ({ organizationId: 'org-1' }),
    addCredit: async () => ({}),
    verifyKey: async () => ({
      outcome: { $case: 'grant', value: { revoked: false, organizationId: 'org-1' } },
    }),
    ...changes,
  };
  const client = Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      (request: Record<string, unknown>) => {
        calls.push(request.resetPassword === true ? `${name} with reset` : name);
        return method(request);
      },
    ]),
  );
  return {
    calls,
    clients: { auth: client, authAdmin: client, billingLedger: client } as unknown as DemoClients,
  };
}

describe('setting up the demo', () => {
  it('retries while services are slow or unavailable', async () => {
    const failures = [new RpcError('deadline_exceeded', 'slow'), new RpcError('unavailable', 'unavailable')];
    const { clients } = services({
      ensureMember: async () => {
        const failure = failures.shift();
        if (failure) throw failure;
        return { member: { id: 'mem-1' }, created: false, passwordVersion: 'v1' };
      },
    });
    expect(await ensureDemo(clients, EARLIER, log)).toEqual(EARLIER);
    expect(failures).toEqual([]);
  });

  it('does not retry after a permanent error', async () => {
    const { clients } = services({ addCredit: () => Promise.reject(new Error('a bug')) });
    await expect(ensureDemo(clients, EARLIER, log)).rejects.toThrow('a bug');
  });

  it('does not hash an unchanged password', async () => {
    const { clients, calls } = services();
    expect(await ensureDemo(clients, EARLIER, log)).toEqual(EARLIER);
    expect(calls).toEqual(['ensureMember', 'ensureOrganization', 'addCredit', 'verifyKey']);
  });

  it('resets the password when it was changed, or when none is known', async () => {
    for (const earlier of [
      { ...EARLIER, passwordVersion: 'v0' },
      { ...EARLIER, passwordVersion: undefined },
      undefined,
    ]) {
      const { clients, calls } = services({
        createUnrestrictedKey: async () => ({ secret: 'sk-gw-new' }),
        ensureMember: async ({ resetPassword }) => ({
          member: { id: 'mem-1' },
          created: false,
          passwordVersion: resetPassword ? 'v2' : 'v1',
        }),
      });
      expect(await ensureDemo(clients, earlier, log)).toMatchObject({ passwordVersion: 'v2' });
      expect(calls).toContain('ensureMember with reset');
    }
  });
});
