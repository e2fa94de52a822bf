import { serveEndpoints } from '@gateway/admin-calls';
import type { Clock } from '@gateway/base';
import { GenerationQueryDefinition } from '@gateway/contracts/generation-query';
import { isDatabaseUnavailable } from '@gateway/database';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import { bindService } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { UsageReader } from '../../core/ports';
import { createUsageEndpoints } from './endpoints';
import { createGenerationQueryHandlers } from './handlers';

export interface GenerationQueryPorts {
  readonly reader: UsageReader;
  readonly clock: Clock;
}

/** The read side: looks up settled generations and sums usage within one organization. */
export function createGenerationQueryModule({ reader, clock }: GenerationQueryPorts): GatewayModule {
  return {
    name: 'generation-query',
    services: [
      bindService(
        GenerationQueryDefinition,
        handlersUnavailableAsNoCapacity(createGenerationQueryHandlers(reader), isDatabaseUnavailable),
      ),
      serveEndpoints('generation-query', createUsageEndpoints(reader, clock), {
        isUnavailable: isDatabaseUnavailable,
      }),
    ],
    consumers: [],
    start: async () => undefined,
    stop: async () => undefined,
  };
}
