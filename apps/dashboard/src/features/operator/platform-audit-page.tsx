import { getRouteApi } from '@tanstack/react-router';
import { Page } from '../../ui/page';
import { AuditLog } from '../organization/audit-log';

const route = getRouteApi('/signed-in/operator/audit');

export function PlatformAuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title="Platform audit log" description="Changes in all organizations and on the platform.">
      <AuditLog search={search} onSearch={(changed) => void navigate({ search: changed, replace: true })} />
    </Page>
  );
}
