export { createDashboardApi, type DashboardApi } from './service/create-dashboard-api';
export type { DashboardApiPorts, DashboardApiSettings, PublicDocuments } from './service/ports';
