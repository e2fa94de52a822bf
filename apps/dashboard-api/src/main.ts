import { runService } from '@gateway/process';
import { loadConfig } from './config';
import { deadLettersCommand, operatorCommand, wireDashboardApi } from './wiring';

runService({
  name: 'dashboard-api',
  loadConfig,
  wire: wireDashboardApi,
  commands: { operator: operatorCommand, 'dead-letters': deadLettersCommand },
});
