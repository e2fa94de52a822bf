import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/keys';
import { exactTime } from '../../format/time';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog } from '../../ui/dialog';
import { Field, Select } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Notice } from '../../ui/notice';
import { useToast } from '../../ui/toast';
import { Id, Time } from '../../ui/values';
import { refreshKey } from './edit-key';

const HOUR_MS = 3_600_000;

/** How long the previous secret keeps working. */
const OVERLAPS = [
  { label: 'Revoke immediately', ms: 0 },
  { label: '1 hour', ms: HOUR_MS },
  { label: '1 day', ms: 24 * HOUR_MS },
  { label: '7 days', ms: 7 * 24 * HOUR_MS },
  { label: '30 days', ms: 30 * 24 * HOUR_MS },
] as const;
const DEFAULT_OVERLAP = 2;

interface RotateKeyProps {
  readonly of: Key;
  readonly onRotated: (secret: string) => void;
}

export function RotateKey({ of: key, onRotated }: RotateKeyProps) {
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(DEFAULT_OVERLAP);
  const queryClient = useQueryClient();
  const rotate = useMutation({
    mutationFn: (overlapMs: number) =>
      api.call('POST /api/organizations/{organization_id}/keys/{key_id}/rotate', {
        params: { organization_id: key.organization_id, key_id: key.id },
        body: {
          previous_works_until: overlapMs === 0 ? null : new Date(Date.now() + overlapMs).toISOString(),
        },
      }),
    onSuccess: async ({ secret }) => {
      setOpen(false);
      onRotated(secret);
      await refreshKey(queryClient, key);
    },
  });
  const overlapMs = OVERLAPS[chosen]?.ms ?? 0;
  return (
    <>
      <Button icon="rotate" onClick={() => setOpen(true)}>
        Rotate
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Rotate key"
        description="Creates a new secret. The key keeps its name, settings and usage."
      >
        <DialogForm
          of={rotate}
          action="Rotate key"
          onSubmit={() => rotate.mutate(overlapMs)}
          onCancel={() => setOpen(false)}
        >
          <Field
            label="Keep the old secret for"
            hint={
              overlapMs === 0
                ? 'Requests with the old secret are rejected immediately.'
                : `Works until ${exactTime(new Date(Date.now() + overlapMs))}.`
            }
          >
            <Select value={chosen} onChange={({ target }) => setChosen(Number(target.value))} autoFocus>
              {OVERLAPS.map(({ label }, index) => (
                <option key={label} value={index}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
        </DialogForm>
      </Dialog>
    </>
  );
}

/** The previous secret after a rotation, while it still works. */
export function PreviousSecret({ of: key, editable }: { readonly of: Key; readonly editable: boolean }) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const end = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/keys/{key_id}/end-previous-secret', {
        params: { organization_id: key.organization_id, key_id: key.id },
      }),
    onSuccess: async () => {
      setOpen(false);
      toast('Old secret revoked.');
      await refreshKey(queryClient, key);
    },
  });
  if (!key.previous_secret) return null;
  return (
    <>
      <Notice
        title="The old secret still works"
        action={
          editable && (
            <Button small onClick={() => setOpen(true)}>
              Revoke now
            </Button>
          )
        }
      >
        <Id>{`sk-gw-…${key.previous_secret.last4}`}</Id> expires <Time at={key.previous_secret.works_until} />
        .
      </Notice>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="Revoke the old secret?"
        action="Revoke"
        of={end}
        onConfirm={() => end.mutate()}
      >
        <p>Requests with the old secret are rejected immediately. The new secret keeps working.</p>
      </Confirm>
    </>
  );
}
