export { dashboardApiEnvironment, dashboardApiSettingsOf } from './service/environment';
export { builtDocuments, builtWebApp } from './adapters/file-system/built-files';
export { readVersion } from './adapters/file-system/version';
export { createEstimator } from './service/estimate-request';
export { createDashboardApi, type DashboardApi } from './service/module';
export type {
  DashboardApiPorts,
  EstimateRequest,
  DashboardApiSettings,
  PublicDocuments,
  WebApp,
} from './service/ports';
export { openDashboardApi, type OpenDashboardApiOptions } from './open-module';
