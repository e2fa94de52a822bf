import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireEdgeProxy } from './wiring';

runService({ name: 'edge-proxy', loadConfig, wire: wireEdgeProxy });
