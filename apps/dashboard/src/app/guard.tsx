import type { Permission } from '@gateway/dashboard-contract';
import { useParams, type AsyncRouteComponent } from '@tanstack/react-router';
import { useMay } from '../api/session';
import { NotYourPage } from './page-states';

type PageComponent = AsyncRouteComponent<object>;

/**
 * Shows a page to those alone whom the server would answer. What others would
 * see is an empty page full of buttons that cannot work.
 */
export function forRole(permission: Permission, Page: PageComponent): PageComponent {
  const Guarded = () => {
    const { organizationId } = useParams({ strict: false });
    return useMay(organizationId)(permission) ? <Page /> : <NotYourPage />;
  };
  return Object.assign(Guarded, Page.preload && { preload: Page.preload });
}
