import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { operatorCommand, schemas, wireAuth } from './wiring';

runService({ name: 'auth', loadConfig, wire: wireAuth, schemas, commands: { operator: operatorCommand } });
