import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { organizationQuery, type Organization } from '../../api/organizations';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Badge } from '../../ui/notice';
import { Section } from '../../ui/page';
import { useToast } from '../../ui/toast';

interface ElasticHoldsProps {
  readonly organization: Organization;
  readonly canChange: boolean;
}

/** Whether streams hold their output in slices. */
export function ElasticHolds({ organization, canChange }: ElasticHoldsProps) {
  const { id, elastic_holds: enabled } = organization;
  const queryClient = useQueryClient();
  const toast = useToast();
  const [confirming, setConfirming] = useState(false);
  const change = useMutation({
    mutationFn: () =>
      api.call('PUT /api/organizations/{organization_id}/elastic-holds', {
        params: { organization_id: id },
        body: { enabled: !enabled },
      }),
    onSuccess: ({ organization: changed }) => {
      setConfirming(false);
      queryClient.setQueryData(organizationQuery(id).queryKey, changed);
      toast(changed.elastic_holds ? 'Elastic holds turned on.' : 'Elastic holds turned off.');
    },
  });
  return (
    <Section
      title={
        <span className="flex items-center gap-2">
          Elastic holds {enabled ? <Badge tone="good">On</Badge> : <Badge tone="faint">Off</Badge>}
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
        busy={change.isPending}
        error={change.error}
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
