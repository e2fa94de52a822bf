export { createDashboardApi, type DashboardApi } from './service/module';
export type { DashboardApiPorts, DashboardApiSettings, PublicDocuments, WebApp } from './service/ports';
