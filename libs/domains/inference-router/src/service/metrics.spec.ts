import { nanoUsd } from '@gateway/base';
import { createMetrics, type Logger } from '@gateway/runtime';
import type { Target } from '../core/catalogue/model-catalogue';
import { UpstreamFailure } from '../core/failure/upstream-failure';
import type { FinishedSpool } from '../core/ports';
import { createRouterMetrics } from './metrics';

const target = { provider: { name: 'acme' }, providerModel: 'big' } as Target;

describe('what every request of a target would say', () => {
  let lines: { level: string; untold: unknown }[];

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
  });
  afterEach(() => jest.useRealTimers());

  function open() {
    const at =
      (level: string) =>
      ({ untold }: { untold?: number }) =>
        void lines.push({ level, untold });
    const log = { debug: at('debug'), warn: at('warn'), error: at('error') } as unknown as Logger;
    const registry = createMetrics({ processMetrics: false });
    return { registry, ...createRouterMetrics(registry, { bytes: () => 0 } as FinishedSpool, log) };
  }

  it.each([
    [
      'error',
      'that a provider refuses our configuration',
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
      'that a usage block is not believed',
      'gateway_inference_router_usage_counted_total',
      (observer: ReturnType<typeof open>['observer']) =>
        observer.usageNotBelieved(target, { promptTokens: 1, completionTokens: 2, cost: nanoUsd(3n) }),
    ],
  ] as const)(
    'as %s, %s, is one line in five seconds, with the number of those untold; each is counted',
    async (level, _, counter, happen) => {
      const { observer, registry } = open();
      for (let count = 0; count < 10; count += 1) happen(observer);
      expect(lines).toEqual([{ level, untold: 0 }]);
      jest.advanceTimersByTime(5_000);
      happen(observer);
      expect(lines).toEqual([
        { level, untold: 0 },
        { level, untold: 9 },
      ]);
      expect((await registry.getSingleMetric(counter)?.get())?.values).toMatchObject([{ value: 11 }]);
    },
  );
});
