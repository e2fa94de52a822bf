import { describeAccessOfEndpoints } from '@gateway/admin-calls/testing';
import { createTestClock } from '@gateway/test-support';
import { createGenerationQueryModule } from './module';

const { services } = createGenerationQueryModule({ reader: {} as never, clock: createTestClock(0) });

describeAccessOfEndpoints('generation-query', () => services);
