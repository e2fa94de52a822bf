import { nanoUsd } from '@gateway/base';
import { createMetrics, type Logger } from '@gateway/runtime';
import type { Target } from '../core/catalogue/model-catalogue';
import { UpstreamFailure } from '../core/failure/upstream-failure';
import type { FinishedSpool } from '../core/ports';
import { createRouterMetrics } from './metrics';

const target = { provider: { name: 'acme' }, providerModel: 'big' } as Target;

describe('repeated log lines of a target', () => {
  let lines: { level: string; suppressed: unknown }[];

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
  });
  afterEach(() => jest.useRealTimers());

  function open() {
    const at =
      (level: string) =>
      ({ suppressed }: { suppressed?: number }) =>
        void lines.push({ level, suppressed });
    const log = { debug: at('debug'), warn: at('warn'), error: at('error') } as unknown as Logger;
    const registry = createMetrics({ processMetrics: false });
    return {
      registry,
      ...createRouterMetrics(registry, { bytes: () => 0, hasSpace: () => true } as FinishedSpool, log),
    };
  }

  it.each([
    [
      'error',
      'a provider rejects our configuration',
      'gateway_inference_router_calls_total',
      (observer: ReturnType<typeof open>['observer']) =>
        observer.attemptEnded(
          target,
          'misconfigured',
          new UpstreamFailure('misconfigured', { detail: 'no key' }),
        ),
    ],
    [
      'warn',
      'implausible usage was rejected',
      'gateway_inference_router_usage_counted_total',
      (observer: ReturnType<typeof open>['observer']) =>
        observer.usageRejected(target, { promptTokens: 1, completionTokens: 2, costNanoUsd: nanoUsd(3n) }),
    ],
  ] as const)(
    'are sampled (%s: %s): one line in five seconds with the number of suppressed ones; the metric counts all',
    async (level, _, counter, happen) => {
      const { observer, registry } = open();
      for (let count = 0; count < 10; count += 1) happen(observer);
      expect(lines).toEqual([{ level, suppressed: 0 }]);
      jest.advanceTimersByTime(5_000);
      happen(observer);
      expect(lines).toEqual([
        { level, suppressed: 0 },
        { level, suppressed: 9 },
      ]);
      expect((await registry.getSingleMetric(counter)?.get())?.values).toMatchObject([{ value: 11 }]);
    },
  );
});
