import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, wireUsageAggregator } from './wiring';

runService({ name: 'usage-aggregator', loadConfig, wire: wireUsageAggregator, schemas });
