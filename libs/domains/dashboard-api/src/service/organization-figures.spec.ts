import { createSilentLogger } from '@gateway/runtime';
import { withFigures } from './organization-figures';

type Ports = Parameters<typeof withFigures>[0];
type Organizations = Parameters<typeof withFigures>[1];

const organizations = Array.from(
  { length: 150 },
  (_, index) => ({ id: `org-${index}`, name: `Customer ${index}` }) as Organizations[number],
);

function portsWith({ ledger, usage }: { ledger?: unknown; usage?: unknown }) {
  const calls: string[] = [];
  const respond = (name: string, value: unknown) => async () => {
    calls.push(name);
    if (value === undefined) throw new Error(`${name} is unavailable`);
    return value;
  };
  const ports = {
    owners: {
      'billing-ledger': { call: respond('balances', ledger) },
      'generation-query': { call: respond('usage', usage) },
    },
    log: createSilentLogger(),
  } as unknown as Ports;
  return { ports, calls };
}

describe('the figures of organizations', () => {
  const ledger = { data: organizations.map((_, index) => (index === 7 ? '1.5' : '0')) };
  const last30Days = { requests: 4, errors: 1, spend_usd: '0.000000001' };
  const usage = {
    data: organizations.map(() => ({ last_30_days: last30Days, margin: null, last_used_at: null })),
  };

  it('are read with one call per service, whatever the number of organizations', async () => {
    const { ports, calls } = portsWith({ ledger, usage });
    const figures = await withFigures(ports, organizations);
    expect(calls.sort()).toEqual(['balances', 'usage']);
    expect(figures).toHaveLength(150);
    expect(figures[7]).toMatchObject({
      id: 'org-7',
      balance_usd: '1.5',
      usage: { last_30_days: last30Days, margin: null, last_used_at: null },
    });
  });

  it.each([
    ['the ledger', { usage }, { balance_usd: null, usage: { last_30_days: { requests: 4 } } }],
    ['usage', { ledger }, { balance_usd: '1.5', usage: null }],
  ])('are null, not zero, while %s is unavailable', async (_what, available, expected) => {
    const { ports } = portsWith(available);
    expect((await withFigures(ports, organizations))[7]).toMatchObject(expected);
  });
});
