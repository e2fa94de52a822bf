import { Counter, Histogram, Registry } from 'prom-client';
import { createTalliedCounter, createTalliedHistogram } from './tallies';
import { renderMetrics } from './render-metrics';

/** Powers of two, so that sums are exact in whatever order they are made. */
const BUCKETS = [1 / 256, 1 / 16, 0.5, 4];
const OPEN_METRICS = 'application/openmetrics-text';

/** Of all sizes, and bounds themselves. */
const values = Array.from({ length: 500 }, (_, index) =>
  index % 7 === 0 ? 1 / 16 : (index * index) / 32_768,
);

describe.each(['text/plain', OPEN_METRICS])('tallied instruments, read as %s', (accept) => {
  const rendered = async (registry: Registry) => (await renderMetrics(registry, accept)).text;

  it('tell what the same instruments of prom-client tell, however often they are read', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const counter = { name: 'answers_total', help: 'help', labelNames: ['route', 'code'] as const };
    const histogram = { name: 'seconds', help: 'help', labelNames: ['route'] as const, buckets: BUCKETS };
    const tallied = createTalliedCounter({ ...counter, registers: [ours] });
    const talliedTimes = createTalliedHistogram({ ...histogram, registers: [ours] });
    const plain = new Counter({ ...counter, registers: [theirs] });
    const plainTimes = new Histogram({ ...histogram, registers: [theirs] });

    const routes = ['chat', 'models'].map((route) => ({
      route,
      ok: tallied.labels({ route, code: 'ok' }),
      times: talliedTimes.labels({ route }),
    }));
    tallied.labels({ route: 'never', code: 'ok' });
    tallied.labels({ route: 'nothing', code: 'ok' }).inc(0);
    plain.inc({ route: 'nothing', code: 'ok' }, 0);
    talliedTimes.labels({ route: 'never' });
    expect(await rendered(ours)).toBe(await rendered(theirs));

    for (const [index, value] of values.entries()) {
      const { route, ok, times } = routes[index % 3 === 0 ? 1 : 0] as (typeof routes)[number];
      ok.inc();
      if (index % 50 === 0) ok.inc(3);
      times.observe(value);
      plain.inc({ route, code: 'ok' }, index % 50 === 0 ? 4 : 1);
      plainTimes.observe({ route }, value);
      if (index % 100 === 0) expect(await rendered(ours)).toBe(await rendered(theirs));
    }
    expect(await rendered(ours)).toBe(await rendered(theirs));
    expect(await rendered(ours)).toBe(await rendered(theirs));
  });

  it('tell of one without labels from the start, as prom-client does', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const times = createTalliedHistogram({ name: 'a', help: 'a', buckets: BUCKETS, registers: [ours] });
    const count = createTalliedCounter({ name: 'b', help: 'b', registers: [ours] });
    const plainTimes = new Histogram({ name: 'a', help: 'a', buckets: BUCKETS, registers: [theirs] });
    const plainCount = new Counter({ name: 'b', help: 'b', registers: [theirs] });
    expect(await rendered(ours)).toBe(await rendered(theirs));
    times.labels({}).observe(0.2);
    count.labels({}).inc();
    plainTimes.observe(0.2);
    plainCount.inc();
    expect(await rendered(ours)).toBe(await rendered(theirs));
  });
});
