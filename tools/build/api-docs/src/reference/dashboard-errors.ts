import { dashboardErrors } from '@gateway/dashboard-contract';

/** The list of error codes in docs/reference/dashboard-api.md. */
export function dashboardErrorsReference(): string {
  return Object.entries(dashboardErrors)
    .map(([code, { httpStatus, when }]) => `- **${httpStatus} \`${code}\`**: ${when}`)
    .join('\n');
}
