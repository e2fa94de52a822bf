import type { RequestClient } from '@gateway/admin-calls';
import type { Request, Response } from 'express';
import type { DashboardApiSettings } from '../ports';
import { dashboardUrlOf } from './dashboard-url';

/** What auth learns of the browser or script that sent the request. */
export function requestClientOf(
  settings: DashboardApiSettings,
  request: Request,
  response: Response,
): RequestClient {
  return {
    ipAddress: (response.locals['clientAddress'] as string | undefined) ?? '',
    device: request.get('user-agent') ?? '',
    dashboardUrl: dashboardUrlOf(settings, request),
  };
}
