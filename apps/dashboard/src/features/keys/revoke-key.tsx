import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/keys';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useToast } from '../../ui/toast';
import { Text } from '../../ui/values';
import { refreshKey } from './edit-key';

/** The server responds once no process accepts the key, so the toast is accurate. */
export function RevokeKey({ of: key }: { readonly of: Key }) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const revoke = useMutation({
    mutationFn: () =>
      api.call('POST /api/organizations/{organization_id}/keys/{key_id}/revoke', {
        params: { organization_id: key.organization_id, key_id: key.id },
      }),
    onSuccess: async () => {
      setOpen(false);
      toast('Key revoked.');
      await refreshKey(queryClient, key);
    },
  });
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Revoke
      </Button>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="Revoke key?"
        action="Revoke key"
        typed={key.name}
        of={revoke}
        onConfirm={() => revoke.mutate()}
      >
        <p>
          Requests with <Text className="font-medium text-ink">{key.name}</Text> are rejected immediately.
          Requests in progress finish. This can’t be undone.
        </p>
      </Confirm>
    </>
  );
}
