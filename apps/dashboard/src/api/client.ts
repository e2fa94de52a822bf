import { createDashboardClient } from '@gateway/dashboard-contract/client';

/** The dashboard's API, on this page's own origin. */
export const api = createDashboardClient();
