import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireAuth } from './wiring';

runService({ name: 'auth', loadConfig, wire: wireAuth });
