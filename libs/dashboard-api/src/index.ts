export { createDashboardApi, type DashboardApi } from './service/module';
export type {
  DashboardApiPorts,
  EstimateRequest,
  EventLag,
  DashboardApiSettings,
  PublicDocuments,
  WebApp,
} from './service/ports';
