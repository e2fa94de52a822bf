import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { schemas, wireInferenceRouter } from './wiring';

runService({ name: 'inference-router', loadConfig, wire: wireInferenceRouter, schemas });
