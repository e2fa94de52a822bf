import { describeAccessOfEndpoints, stubsOf } from '@gateway/admin-calls/testing';
import { endpoints } from '@gateway/dashboard-contract';
import { createMetrics, createSilentLogger, newId } from '@gateway/runtime';
import { createTestClock } from '@gateway/test-support';
import { createAuthModule } from './module';

const { services } = createAuthModule({
  adapters: { people: {} } as never,
  clock: createTestClock(0),
  newId,
  log: createSilentLogger(),
  metrics: createMetrics({ processMetrics: false }),
  endpoints: stubsOf(Object.values(endpoints.notifications)),
});

describeAccessOfEndpoints('auth', () => services);
