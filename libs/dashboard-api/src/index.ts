export { createDashboardApi, type DashboardApi } from './service/module';
export type { DashboardApiPorts, DashboardApiSettings, PublicDocuments } from './service/ports';
