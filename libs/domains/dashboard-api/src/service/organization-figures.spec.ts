import { Organization } from '@gateway/contracts/auth';
import { createSilentLogger, systemClock } from '@gateway/runtime';
import { withFigures } from './organization-figures';

type Ports = Parameters<typeof withFigures>[0];

const organizations = Array.from({ length: 150 }, (_, index) =>
  Organization.fromPartial({ id: `org-${index}`, name: `Customer ${index}` }),
);

function portsWith({ ledger, reports }: { ledger?: unknown; reports?: unknown }) {
  const calls: string[] = [];
  const respond = (name: string, value: unknown) => async () => {
    calls.push(name);
    if (value === undefined) throw new Error(`${name} is unavailable`);
    return value;
  };
  const ports = {
    ledgerAdmin: { listBalances: respond('balances', ledger) },
    generationReports: { listOrganizationUsage: respond('usage', reports) },
    clock: systemClock,
    log: createSilentLogger(),
  } as unknown as Ports;
  return { ports, calls };
}

describe('the figures of organizations', () => {
  const ledger = { balances: [{ organizationId: 'org-7', balanceNanoUsd: 1_500_000_000n }] };
  const totals = { requests: 4n, errors: 1n, chargedNanoUsd: 1n };
  const margin = { chargedNanoUsd: 1n, providerCostNanoUsd: 3n };
  const reports = { organizations: [{ organizationId: 'org-7', totals, margin, lastUsedUnixMs: 0n }] };

  it('are read with one call per service, whatever the number of organizations', async () => {
    const { ports, calls } = portsWith({ ledger, reports });
    const figures = await withFigures(ports, organizations);
    expect(calls.sort()).toEqual(['balances', 'usage']);
    expect(figures).toHaveLength(150);
    expect(figures[7]).toMatchObject({
      id: 'org-7',
      balance_usd: '1.5',
      usage: {
        last_30_days: { requests: 4, errors: 1, spend_usd: '0.000000001' },
        margin: {
          spend_usd: '0.000000001',
          provider_cost_usd: '0.000000003',
          margin_usd: '-0.000000002',
        },
        last_used_at: '1970-01-01T00:00:00.000Z',
      },
    });
  });

  it('have no margin when no provider cost is known', async () => {
    const unknown = { chargedNanoUsd: 0n, providerCostNanoUsd: 0n };
    const of = { organizationId: 'org-7', totals, margin: unknown, lastUsedUnixMs: 0n };
    const { ports } = portsWith({ ledger, reports: { organizations: [of] } });
    expect((await withFigures(ports, organizations))[7]?.usage?.margin).toBeNull();
  });

  it.each([
    ['the ledger', { reports }, { balance_usd: null, usage: { last_30_days: { requests: 4 } } }],
    ['usage', { ledger }, { balance_usd: '1.5', usage: null }],
  ])('are null, not zero, while %s is unavailable', async (_what, available, expected) => {
    const { ports } = portsWith(available);
    expect((await withFigures(ports, organizations))[7]).toMatchObject(expected);
  });
});
