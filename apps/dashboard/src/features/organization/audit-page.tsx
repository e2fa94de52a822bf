import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../ui/page';
import { AuditLog } from './audit-log';

const route = getRouteApi('/signed-in/o/$organizationId/audit');

export function AuditPage() {
  const { organizationId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Audit log" description="Changes in this organization.">
      <AuditLog
        organizationId={organizationId}
        search={search}
        onSearch={(changed) => void navigate({ search: changed, replace: true })}
      />
    </Page>
  );
}
