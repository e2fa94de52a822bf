import type { Request } from 'express';
import type { DashboardApiSettings } from '../ports';

/**
 * Where the dashboard is for whoever gets a link to it. Without a public origin
 * it is only answered under names of this machine, so the Host header can be
 * nobody else's.
 */
export function dashboardUrlOf({ publicOrigin }: DashboardApiSettings, request: Request): string {
  return publicOrigin ?? `http://${request.headers.host ?? 'localhost'}`;
}
