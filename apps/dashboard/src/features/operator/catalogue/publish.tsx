import { ApiError } from '@gateway/dashboard-contract/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client';
import { Button } from '../../../ui/button';
import { DialogActions } from '../../../ui/dialog';
import { Field, Input } from '../../../ui/field';
import { FailureLine, SkeletonRows } from '../../../ui/states';
import { useToast } from '../../../ui/toast';
import type { CheckedText } from './catalogue-state';
import { Checked, Issues } from './changes';
import { useCatalogueChange } from './use-catalogue-change';

interface PublishProps {
  readonly text: string;
  readonly revision: number;
  readonly version: number;
  readonly onDone: () => void;
}

/** Shows what the draft changes, then publishes it. */
export function Publish({ text, revision, version, onDone }: PublishProps) {
  const [comment, setComment] = useState('');
  const toast = useToast();
  const preview = useQuery({
    queryKey: ['catalogue-state', 'check', revision, version],
    queryFn: ({ signal }) => api.call('POST /api/operator/catalogue/check', { body: { text }, signal }),
  });
  const publish = useCatalogueChange(
    () =>
      api.call('POST /api/operator/catalogue/publish', {
        body: { draft_revision: revision, expected_version: version, comment: comment.trim() },
      }),
    ({ version: published }) => {
      toast(`Version ${published.version} is published.`);
      onDone();
    },
  );
  if (preview.error) return <FailureLine error={preview.error} />;
  if (!preview.data) return <SkeletonRows />;
  if (preview.data.issues.length > 0) return <Issues of={preview.data.issues} />;
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        publish.mutate(undefined);
      }}
    >
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
      {publish.error && <PublishFailure error={publish.error} />}
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" busy={publish.isPending}>
          Publish
        </Button>
      </DialogActions>
    </form>
  );
}

/** A secret may have been deleted since the check. */
function PublishFailure({ error }: { readonly error: unknown }) {
  const issues = error instanceof ApiError ? error.details.metadata['issues'] : undefined;
  if (Array.isArray(issues)) return <Issues of={issues as CheckedText['issues']} />;
  return <FailureLine error={error} />;
}
