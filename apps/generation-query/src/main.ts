import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, wireGenerationQuery } from './wiring';

runService({ name: 'generation-query', loadConfig, wire: wireGenerationQuery, schemas });
