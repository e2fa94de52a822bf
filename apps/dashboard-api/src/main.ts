import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { deadLettersCommand, wireDashboardApi } from './wiring';

runService({
  name: 'dashboard-api',
  loadConfig,
  wire: wireDashboardApi,
  commands: { 'dead-letters': deadLettersCommand },
});
