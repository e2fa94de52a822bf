import { Page } from '../../ui/page';
import { Empty } from '../../ui/states';

/** For people without an organization. */
export function NoOrganizationPage() {
  return (
    <Page title="Welcome">
      <Empty icon="building" title="No organization yet">
        Request an invitation from an owner or admin of an organization, or from the operator.
      </Empty>
    </Page>
  );
}
