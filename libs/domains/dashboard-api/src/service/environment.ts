import { httpServerEnvironment, tlsFilesOf } from '@gateway/http-server';
import { originSetting, portSetting } from '@gateway/runtime';
import { z } from 'zod';
import type { DashboardApiSettings } from './ports';

const DEFAULT_PORT = 8081;

/** Settings of each app that runs this module. */
export const dashboardApiEnvironment = {
  ...httpServerEnvironment,
  GATEWAY_DASHBOARD_PORT: portSetting
    .default(DEFAULT_PORT)
    .describe('Port of the dashboard and its API. 0 picks a free port.'),
  GATEWAY_DASHBOARD_ORIGIN: originSetting
    .optional()
    .describe(
      'Origin at which browsers open the dashboard, such as `https://dashboard.example.com`. With https its session cookie is `__Host-gateway_session` and `Secure`, and HSTS is on; with http it is `gateway_session`. Without it the dashboard works on `localhost` and loopback addresses only.',
    ),
  GATEWAY_PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
    .optional()
    .describe(
      'URL at which browsers reach the public API, with `/v1`. The playground of the dashboard calls it. Default: the address of this machine in the embedded gateway; in a cluster the playground needs it.',
    ),
};

export type DashboardApiEnvironment = z.output<z.ZodObject<typeof dashboardApiEnvironment>>;

export function dashboardApiSettingsOf(
  values: DashboardApiEnvironment,
): Pick<DashboardApiSettings, 'port' | 'tls' | 'publicOrigin' | 'trustedProxies'> {
  return {
    port: values.GATEWAY_DASHBOARD_PORT,
    tls: tlsFilesOf(values),
    ...(values.GATEWAY_DASHBOARD_ORIGIN && { publicOrigin: values.GATEWAY_DASHBOARD_ORIGIN }),
    trustedProxies: values.GATEWAY_TRUSTED_PROXIES,
  };
}
