import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { wireDashboardApi } from './wiring';

runService({ name: 'dashboard-api', loadConfig, wire: wireDashboardApi });
