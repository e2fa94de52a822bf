import { ApiError, type Result } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { DialogActions } from '../../../ui/dialog';
import { Field, Input } from '../../../ui/field';
import { Form } from '../../../ui/form';
import { FailureLine, SkeletonRows } from '../../../ui/states';
import { useToast } from '../../../ui/toast';
import type { CheckedText } from './catalogue-state';
import { Checked, Issues } from './changes';
import { useCatalogueChange } from './use-catalogue-change';

interface PublishProps {
  readonly text: string;
  readonly action: 'Publish' | 'Roll back';
  /** Which the operator may change. */
  readonly comment?: string | undefined;
  readonly publish: (comment: string) => Promise<Result<'POST /api/operator/catalogue/publish'>>;
  readonly onDone: () => void;
}

/** Shows what a text changes, and whom it affects, then publishes it. */
export function Publish({ text, action, comment: start = '', publish, onDone }: PublishProps) {
  const [comment, setComment] = useState(start);
  const toast = useToast();
  const preview = useQuery({
    queryKey: ['catalogue-state', 'check', text],
    queryFn: ({ signal }) => api.call('POST /api/operator/catalogue/check', { body: { text }, signal }),
  });
  const change = useCatalogueChange(
    () => publish(comment.trim()),
    ({ version: published }) => {
      toast(`Version ${published.version} is published.`);
      onDone();
    },
  );
  if (preview.error) return <FailureLine error={preview.error} />;
  if (!preview.data) return <SkeletonRows />;
  if (preview.data.issues.length > 0) return <Issues of={preview.data.issues} />;
  return (
    <Form onSubmit={() => change.mutate(undefined)}>
      <Checked of={preview.data} />
      <Field label="Comment" hint="Shown in the history and in the audit log.">
        <Input
          required
          autoFocus
          maxLength={500}
          value={comment}
          onChange={({ target }) => setComment(target.value)}
        />
      </Field>
      {change.error && <PublishFailure error={change.error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind={action === 'Publish' ? 'primary' : 'danger'} busy={change.isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}

/** A secret may have been deleted since the check. */
function PublishFailure({ error }: { readonly error: unknown }) {
  const issues = error instanceof ApiError ? error.details.metadata['issues'] : undefined;
  if (Array.isArray(issues)) return <Issues of={issues as CheckedText['issues']} />;
  return <FailureLine error={error} />;
}
