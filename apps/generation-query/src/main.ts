import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireGenerationQuery } from './wiring';

runService({ name: 'generation-query', loadConfig, wire: wireGenerationQuery });
