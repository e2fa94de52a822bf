import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireInferenceRouter } from './wiring';

runService({ name: 'inference-router', loadConfig, wire: wireInferenceRouter });
