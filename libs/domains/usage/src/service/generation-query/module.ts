import { GenerationQueryDefinition, GenerationReportsDefinition } from '@gateway/contracts/generation-query';
import { isDatabaseUnavailable } from '@gateway/database';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import { bindService } from '@gateway/rpc';
import type { GatewayModule } from '@gateway/module';
import type { UsageReader } from '../../core/ports';
import { createGenerationQueryHandlers } from './handlers';
import { createGenerationReportsHandlers } from './report-handlers';

export interface GenerationQueryPorts {
  readonly reader: UsageReader;
}

/** The read side: looks up settled generations and sums usage within one organization. */
export function createGenerationQueryModule({ reader }: GenerationQueryPorts): GatewayModule {
  return {
    name: 'generation-query',
    services: [
      bindService(
        GenerationQueryDefinition,
        handlersUnavailableAsNoCapacity(createGenerationQueryHandlers(reader), isDatabaseUnavailable),
      ),
      bindService(
        GenerationReportsDefinition,
        handlersUnavailableAsNoCapacity(createGenerationReportsHandlers(reader), isDatabaseUnavailable),
      ),
    ],
    consumers: [],
    start: async () => undefined,
    stop: async () => undefined,
  };
}
