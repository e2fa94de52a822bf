import { createTestClock } from '@gateway/test-support';
import type { Catalogue, Target } from '../core/catalogue/model-catalogue';
import { targetKey } from '../core/catalogue/model-catalogue';
import type { CatalogueSource } from '../core/ports';
import { TargetHealth } from '../core/resilience/target-health';
import { createRouterIncidents } from './incidents';

const target = (provider: string): Target =>
  ({ provider: { name: provider }, providerModel: 'large-1' }) as unknown as Target;
const [first, second] = [target('acme'), target('other')];

function routerIncidents({ targets = [first] }: { readonly targets?: readonly Target[] } = {}) {
  const clock = createTestClock();
  const health = new TargetHealth(clock);
  const models = new Map([['m/large', { id: 'm/large', disabled: false, targets }]]);
  const state = { spooled: [] as string[], open: new Set<Target>(), drained: new Set<string>() };
  let changed: () => void = () => undefined;
  const catalogue: Pick<CatalogueSource, 'current' | 'onChange'> = {
    current: () => ({ models }) as unknown as Catalogue,
    onChange: (listener) => {
      changed = listener;
      return () => undefined;
    },
  };
  const incidents = createRouterIncidents({
    catalogue: catalogue as CatalogueSource,
    breakers: {
      stateOf: (of) => ({ state: state.open.has(of) ? 'open' : 'closed', organizationsOpen: 0 }),
    },
    health,
    drains: {
      of: (key: string) => (state.drained.has(key) ? { since: 0, by: '', reason: '' } : undefined),
    } as never,
    spool: { names: () => state.spooled },
    clock,
    processName: 'router-0',
  });
  const ended: typeof incidents.attemptEnded = (of, outcome) => {
    health.ended(of, outcome);
    incidents.attemptEnded(of, outcome);
  };
  const causes = () => incidents.current().map(({ cause }) => cause);
  return { clock, state, ended, causes, incidents, reload: () => changed() };
}

it('a target that rejects the key or model name is an incident until a call succeeds', () => {
  const { ended, incidents, causes } = routerIncidents();
  ended(first, 'misconfigured');
  expect(incidents.current()).toEqual([
    { cause: 'upstream_config_error', subject: targetKey(first), details: 'used by m/large' },
  ]);
  ended(first, 'failed');
  expect(causes()).toEqual(['upstream_config_error']);
  ended(first, 'ok');
  expect(causes()).toEqual([]);
});

it('a changed models.yaml ends it, and so does an hour without a rejected call', () => {
  const { clock, ended, causes, reload } = routerIncidents();
  ended(first, 'misconfigured');
  reload();
  expect(causes()).toEqual([]);
  ended(first, 'misconfigured');
  clock.advance(3_600_000);
  expect(causes()).toEqual([]);
});

it('a model is unavailable when every call to each of its targets fails', () => {
  const { ended, causes } = routerIncidents({ targets: [first, second] });
  for (let call = 0; call < 5; call += 1) ended(first, 'failed');
  expect(causes()).toEqual([]);
  for (let call = 0; call < 5; call += 1) ended(second, 'timed_out');
  expect(causes()).toEqual(['model_unavailable']);
  ended(second, 'ok');
  expect(causes()).toEqual([]);
});

it('a model is unavailable when the circuits of all its targets are open, but not when they are drained', () => {
  const { state, causes } = routerIncidents();
  state.open.add(first);
  expect(causes()).toEqual(['model_unavailable']);
  state.drained.add(targetKey(first));
  expect(causes()).toEqual([]);
});

it('requests that a provider refuses as not valid are no incident', () => {
  const { ended, causes } = routerIncidents();
  for (let call = 0; call < 9; call += 1) ended(first, 'rejected');
  expect(causes()).toEqual([]);
});

it('spooled generations are an incident of this replica', () => {
  const { state, incidents } = routerIncidents();
  state.spooled.push('gen-1');
  expect(incidents.current()).toEqual([
    { cause: 'spool_not_empty', subject: 'router-0', details: 'generations: 1' },
  ]);
});
