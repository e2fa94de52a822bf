import { Link } from '@tanstack/react-router';
import { usePermission } from '../../api/session';
import { buttonClass } from '../../ui/button';
import { Notice } from '../../ui/notice';
import { useSteps } from '../first-run/steps';
import { OperatorContact } from '../../app/operator-contact';

/** The next setup step; renders nothing after the first request. */
export function NextStep({ organizationId }: { readonly organizationId: string }) {
  const can = usePermission(organizationId);
  const { steps } = useSteps(organizationId);
  if (!steps || steps.hasRequest) return null;
  if (can('platform:credit')) {
    return (
      <Notice
        title="Finish setup"
        action={
          <Link to="/welcome" search={{}} className={buttonClass('primary', true)}>
            Continue setup
          </Link>
        }
      >
        Add credit, create a key and send your first request.
      </Notice>
    );
  }
  if (!steps.hasCredit) {
    return (
      <Notice>
        No credit yet. Contact <OperatorContact /> to add credit.
      </Notice>
    );
  }
  if (!steps.hasKey && can('keys:manage_own')) {
    return (
      <Notice
        action={
          <Link
            to="/o/$organizationId/keys/new"
            params={{ organizationId }}
            className={buttonClass('primary', true)}
          >
            Create key
          </Link>
        }
      >
        Create a key to send your first request.
      </Notice>
    );
  }
  return null;
}
