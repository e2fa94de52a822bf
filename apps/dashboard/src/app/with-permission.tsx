import type { Permission } from '@gateway/dashboard-contract';
import { useParams, type AsyncRouteComponent } from '@tanstack/react-router';
import { usePermission } from '../api/session';
import { NoAccessPage } from './page-states';

type PageComponent = AsyncRouteComponent<object>;

/** Renders a page only with the permission that its requests need. */
export function withPermission(permission: Permission, Page: PageComponent): PageComponent {
  const Guarded = () => {
    const { organizationId } = useParams({ strict: false });
    return usePermission(organizationId)(permission) ? <Page /> : <NoAccessPage />;
  };
  return Object.assign(Guarded, Page.preload && { preload: Page.preload });
}
