import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, wireAuth } from './wiring';

runService({ name: 'auth', loadConfig, wire: wireAuth, schemas });
