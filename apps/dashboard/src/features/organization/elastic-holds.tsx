import { useState } from 'react';
import { api } from '../../api/client';
import type { Organization } from '../../api/organizations';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { OnOff } from '../../ui/notice';
import { Section } from '../../ui/page';
import { useOrganizationChange } from './use-organization-change';

interface ElasticHoldsProps {
  readonly organization: Organization;
  readonly canChange: boolean;
}

/** Whether streams hold their output in slices. */
export function ElasticHolds({ organization, canChange }: ElasticHoldsProps) {
  const { id, elastic_holds: enabled } = organization;
  const [confirming, setConfirming] = useState(false);
  const { save: change } = useOrganizationChange({
    organization,
    send: () =>
      api.call('PUT /api/organizations/{organization_id}/elastic-holds', {
        params: { organization_id: id },
        body: { enabled: !enabled },
      }),
    saved: enabled ? 'Elastic holds turned off.' : 'Elastic holds turned on.',
    onDone: () => setConfirming(false),
  });
  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          Elastic holds <OnOff on={enabled} />
        </span>
      }
      description="Streams reserve their output in slices while they run, instead of the full max_tokens before they start. A stream that the balance or a budget no longer covers ends with finish_reason length."
      actions={
        canChange && (
          <Button small onClick={() => setConfirming(true)}>
            {enabled ? 'Turn off' : 'Turn on'}
          </Button>
        )
      }
    >
      <Confirm
        open={confirming}
        onOpenChange={setConfirming}
        title={enabled ? 'Turn off elastic holds?' : 'Turn on elastic holds?'}
        action={enabled ? 'Turn off' : 'Turn on'}
        of={change}
        onConfirm={() => change.mutate()}
      >
        <p>
          {enabled
            ? 'New streams reserve their full max_tokens before they start. A request that the balance or a budget does not cover is refused.'
            : 'New streams start with a slice of their output reserved. They end early when the balance or a budget no longer covers them.'}{' '}
          Running streams are not affected.
        </p>
      </Confirm>
    </Section>
  );
}
