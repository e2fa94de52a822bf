import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { Code } from '../../ui/code';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { Form } from '../../ui/form';
import { Fact, Facts } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Id, Text, Time } from '../../ui/values';

interface DeadLetterDetailProps {
  readonly of: Result<'GET /api/dead-letters/{group}/{topic}'>['data'][number];
  readonly onDone: () => void;
}

/** Shows an event and the actions to redeliver or discard it. */
export function DeadLetterDetail({ of, onDone }: DeadLetterDetailProps) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const params = { group: of.group, topic: of.topic, position: of.position };
  const detail = useQuery({
    queryKey: ['dead-letter', params],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/dead-letters/{group}/{topic}/{position}', { params, signal })).dead_letter,
  });
  const onSuccess = (text: string) => async () => {
    toast(text);
    await queryClient.invalidateQueries({ queryKey: ['dead-letters'] });
    await queryClient.invalidateQueries({ queryKey: ['dead-letter-groups'] });
    onDone();
  };
  const redeliver = useMutation({
    mutationFn: () => api.call('POST /api/dead-letters/{group}/{topic}/{position}/redeliver', { params }),
    onSuccess: onSuccess('Redelivering.'),
  });
  const discard = useMutation({
    mutationFn: () =>
      api.call('POST /api/dead-letters/{group}/{topic}/{position}/discard', {
        params,
        body: { reason: reason.trim() },
      }),
    onSuccess: onSuccess('Discarded. You can still redeliver it for 30 days.'),
  });
  const error = redeliver.error ?? discard.error;
  return (
    <div className="grid min-w-0 gap-4">
      <Facts>
        <Fact name="Failure reason">
          <Text>{of.reason}</Text>
        </Fact>
        <Fact name="Organization">
          <Id>{of.key}</Id>
        </Fact>
        <Fact name="Dead-lettered">
          <Time at={of.dead_lettered_at} />
        </Fact>
      </Facts>
      {detail.error ? (
        <Failure error={detail.error} what="event" onRetry={() => void detail.refetch()} />
      ) : !detail.data ? (
        <SkeletonRows rows={3} />
      ) : (
        <Code
          wrap
          what="event"
          text={detail.data.payload_base64 ?? JSON.stringify(detail.data.payload, null, 2)}
        />
      )}
      {error && <FailureLine error={error} />}
      <Form className="grid gap-3" onSubmit={() => discard.mutate()}>
        {of.state !== 'discarded' && (
          <Field
            label="Reason to discard"
            hint="A discarded event takes no effect: its generation is not charged or not counted in usage."
          >
            <Input maxLength={500} value={reason} onChange={({ target }) => setReason(target.value)} />
          </Field>
        )}
        <DialogActions>
          {of.state !== 'discarded' && (
            <Button type="submit" kind="danger" busy={discard.isPending} disabled={reason.trim() === ''}>
              Discard
            </Button>
          )}
          <Button kind="primary" busy={redeliver.isPending} onClick={() => redeliver.mutate()}>
            Redeliver
          </Button>
        </DialogActions>
      </Form>
    </div>
  );
}
