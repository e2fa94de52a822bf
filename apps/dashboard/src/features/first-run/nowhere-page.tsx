import { Page } from '../../ui/page';
import { Empty } from '../../ui/states';

/** For whoever belongs to no organization. */
export function NowherePage() {
  return (
    <Page title="Welcome">
      <Empty icon="building" title="You belong to no organization yet">
        Ask an owner or admin of one to invite you, or the operator of this gateway. Their link brings you in.
      </Empty>
    </Page>
  );
}
