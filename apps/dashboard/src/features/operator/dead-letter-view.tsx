import type { Result } from '@gateway/dashboard-contract/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import { Button } from '../../ui/button';
import { Code } from '../../ui/code';
import { DialogActions } from '../../ui/dialog';
import { Field, Input } from '../../ui/field';
import { Fact, Facts } from '../../ui/page';
import { Failure, FailureLine, SkeletonRows } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Id, Text, Time } from '../../ui/values';

interface DeadLetterViewProps {
  readonly of: Result<'GET /api/dead-letters/{group}/{topic}'>['data'][number];
  readonly onDone: () => void;
}

/** What the event says, and the two things that can be done about it. */
export function DeadLetterView({ of, onDone }: DeadLetterViewProps) {
  const [reason, setReason] = useState('');
  const queryClient = useQueryClient();
  const toast = useToast();
  const params = { group: of.group, topic: of.topic, position: of.position };
  const whole = useQuery({
    queryKey: ['dead-letter', params],
    queryFn: async ({ signal }) =>
      (await api.call('GET /api/dead-letters/{group}/{topic}/{position}', { params, signal })).letter,
  });
  const after = (text: string) => async () => {
    toast(text);
    await queryClient.invalidateQueries({ queryKey: ['dead-letters'] });
    await queryClient.invalidateQueries({ queryKey: ['dead-letter-groups'] });
    onDone();
  };
  const redeliver = useMutation({
    mutationFn: () => api.call('POST /api/dead-letters/{group}/{topic}/{position}/redeliver', { params }),
    onSuccess: after('It is being delivered once more.'),
  });
  const discard = useMutation({
    mutationFn: () =>
      api.call('POST /api/dead-letters/{group}/{topic}/{position}/discard', {
        params,
        body: { reason: reason.trim() },
      }),
    onSuccess: after('It is discarded. For 30 days it can be redelivered after all.'),
  });
  const error = redeliver.error ?? discard.error;
  return (
    <div className="grid min-w-0 gap-4">
      <Facts>
        <Fact name="Why it failed">
          <Text>{of.reason}</Text>
        </Fact>
        <Fact name="Organization">
          <Id>{of.key}</Id>
        </Fact>
        <Fact name="Given up">
          <Time at={of.dead_lettered_at} />
        </Fact>
      </Facts>
      {whole.error ? (
        <Failure error={whole.error} what="the event" onRetry={() => void whole.refetch()} />
      ) : !whole.data ? (
        <SkeletonRows rows={3} />
      ) : (
        <Code
          wrap
          what="the event"
          text={whole.data.payload_base64 ?? JSON.stringify(whole.data.payload, null, 2)}
        />
      )}
      {error && <FailureLine error={error} />}
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          discard.mutate();
        }}
      >
        {of.state !== 'discarded' && (
          <Field
            label="Reason to discard it"
            hint="What it says is then never done: a generation is not charged, or is not in the usage."
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
            Deliver once more
          </Button>
        </DialogActions>
      </form>
    </div>
  );
}
