import { httpServerEnvironment } from '@gateway/http-server';
import { originSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';
import type { DashboardApiSettings } from './ports';

const DEFAULT_PORT = 8081;

/** Settings of each app that runs this module. */
export const dashboardApiEnvironment = {
  ...httpServerEnvironment,
  GATEWAY_DASHBOARD_PORT: portSetting.default(DEFAULT_PORT),
  /** Where browsers see the dashboard. */
  GATEWAY_DASHBOARD_ORIGIN: originSetting.optional(),
  /** Where browsers reach the public API, with /v1. */
  GATEWAY_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
};

export type DashboardApiEnvironment = z.output<z.ZodObject<typeof dashboardApiEnvironment>>;

export function dashboardApiSettingsOf(
  values: DashboardApiEnvironment,
): Pick<DashboardApiSettings, 'port' | 'publicOrigin' | 'trustedProxies'> {
  return {
    port: values.GATEWAY_DASHBOARD_PORT,
    ...(values.GATEWAY_DASHBOARD_ORIGIN && { publicOrigin: values.GATEWAY_DASHBOARD_ORIGIN }),
    trustedProxies: values.GATEWAY_TRUSTED_PROXIES,
  };
}
