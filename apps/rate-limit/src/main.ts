import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireRateLimit } from './wiring';

runService({ name: 'rate-limit', loadConfig, wire: wireRateLimit });
