import { createLogSampler } from './log-sampler';

it('logs the first event of a kind, then one per interval with the number of suppressed ones', () => {
  let now = 0;
  const sampler = createLogSampler(() => now, { everyMs: 1_000 });
  expect(sampler.sample('a')).toBe(0);
  for (now = 1; now < 1_000; now += 1) expect(sampler.sample('a')).toBeUndefined();
  expect(sampler.sample('b')).toBe(0);
  now = 1_000;
  expect(sampler.sample('a')).toBe(999);
  now = 2_000;
  expect(sampler.sample('a')).toBe(0);
});

it('tracks a bounded number of kinds', () => {
  const sampler = createLogSampler(() => 0, { everyMs: 1_000 });
  sampler.sample('first');
  for (let kind = 0; kind < 100; kind += 1) sampler.sample(`kind ${kind}`);
  expect(sampler.sample('first')).toBe(0);
});
