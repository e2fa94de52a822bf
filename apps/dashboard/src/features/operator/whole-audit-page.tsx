import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../ui/page';
import { AuditLog } from '../organization/audit-log';

const route = getRouteApi('/signed-in/operator/audit');

export function WholeAuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page
      title="Whole audit log"
      description="Of every organization and of the platform. Days are those of UTC."
    >
      <AuditLog search={search} onSearch={(changed) => void navigate({ search: changed, replace: true })} />
    </Page>
  );
}
