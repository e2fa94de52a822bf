import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/keys';
import { exactTime } from '../../format/time';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Select } from '../../ui/field';
import { Notice } from '../../ui/notice';
import { FailureLine } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Id, Time } from '../../ui/values';
import { refreshKey } from './edit-key';

const HOUR_MS = 3_600_000;

/** How long the secret of before goes on working. */
const OVERLAPS = [
  { label: 'Not at all: it ends now', ms: 0 },
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
        title="Rotate this key"
        description="It keeps its name, settings and counts, and gets a new secret that works at once."
      >
        <form
          className="grid gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            rotate.mutate(overlapMs);
          }}
        >
          <Field
            label="The old secret goes on working for"
            hint={
              overlapMs === 0
                ? 'Programs that still use it are refused when this is done.'
                : `Until ${exactTime(new Date(Date.now() + overlapMs))}. You can end it earlier.`
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
          {rotate.error && <FailureLine error={rotate.error} />}
          <DialogActions>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
            <Button type="submit" kind="primary" busy={rotate.isPending}>
              Make a new secret
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  );
}

/** The secret of before a rotation, while it works. */
export function PreviousSecret({ of: key, changeable }: { readonly of: Key; readonly changeable: boolean }) {
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
      toast('The old secret is refused, everywhere.');
      await refreshKey(queryClient, key);
    },
  });
  if (!key.previous_secret) return null;
  return (
    <>
      <Notice
        title="The old secret still works"
        action={
          changeable && (
            <Button small onClick={() => setOpen(true)}>
              End it now
            </Button>
          )
        }
      >
        <Id>{`sk-gw-…${key.previous_secret.last4}`}</Id> ends <Time at={key.previous_secret.works_until} />.
      </Notice>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="End the old secret?"
        action="End it"
        busy={end.isPending}
        error={end.error}
        onConfirm={() => end.mutate()}
      >
        <p>Programs that still use it are refused from now on. The new secret is not touched.</p>
      </Confirm>
    </>
  );
}
