import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  managementTokensQuery,
  revokeManagementToken,
  type ManagementToken,
} from '../../api/management-tokens';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useToast } from '../../ui/toast';
import { Text, visible } from '../../ui/values';

interface RevokeProps {
  readonly of: ManagementToken;
  readonly organizationId: string | undefined;
}

export function RevokeManagementToken({ of: token, organizationId }: RevokeProps) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const revoke = useMutation({
    mutationFn: () => revokeManagementToken(organizationId, token.id),
    onSuccess: async () => {
      setOpen(false);
      toast('Management token revoked.');
      await queryClient.invalidateQueries({ queryKey: managementTokensQuery(organizationId).queryKey });
    },
  });
  return (
    <>
      <Button small aria-label={`Revoke ${visible(token.name)}`} onClick={() => setOpen(true)}>
        Revoke
      </Button>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title="Revoke management token?"
        action="Revoke token"
        of={revoke}
        onConfirm={() => revoke.mutate()}
      >
        <p>
          Requests with <Text className="font-medium text-ink">{token.name}</Text> are rejected immediately.
          This can’t be undone.
        </p>
      </Confirm>
    </>
  );
}
