import { Link } from '@tanstack/react-router';
import { useMay } from '../../api/session';
import { buttonClass } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { useSteps } from '../first-run/steps';

/** What is missing before the first request can succeed; nothing once one has. */
export function NextStep({ organizationId }: { readonly organizationId: string }) {
  const may = useMay(organizationId);
  const { steps } = useSteps(organizationId);
  if (!steps || steps.hasRequest) return null;
  if (may('platform:credit')) {
    return (
      <Notice
        title="This organization has made no request yet"
        action={
          <Link to="/welcome" search={{}} className={buttonClass('primary', true)}>
            Go on with the set-up
          </Link>
        }
      >
        Credit, a key, and a first request: a few minutes.
      </Notice>
    );
  }
  if (!steps.hasCredit)
    return <Notice>There is no credit yet. Ask an operator of the gateway to add some.</Notice>;
  if (!steps.hasKey && may('keys:manage')) {
    return (
      <Notice
        action={
          <Link
            to="/o/$organizationId/keys/new"
            params={{ organizationId }}
            className={buttonClass('primary', true)}
          >
            Create a key
          </Link>
        }
      >
        There is credit. What is missing is a key.
      </Notice>
    );
  }
  return null;
}
