import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireUsageAggregator } from './wiring';

runService({ name: 'usage-aggregator', loadConfig, wire: wireUsageAggregator });
