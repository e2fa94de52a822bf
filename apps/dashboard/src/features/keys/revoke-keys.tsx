import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Key } from '../../api/keys';
import { counted } from '../../format/count';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { messageOf } from '../../ui/states';
import { useToast } from '../../ui/toast';
import { Text } from '../../ui/values';

/** Each call waits for the edges, so several run at the same time. */
const CONCURRENT_CALLS = 5;

interface RevokeKeysProps {
  readonly organizationId: string;
  readonly keys: readonly Key[];
  /** Called with the keys that could not be revoked. */
  readonly onDone: (left: readonly Key[]) => void;
}

/** Revokes the selected keys. Those that fail stay selected. */
export function RevokeKeys({ organizationId, keys, onDone }: RevokeKeysProps) {
  const [open, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const toast = useToast();
  const revoke = useMutation({
    mutationFn: async () => {
      const waiting = [...keys];
      const failures: { readonly key: Key; readonly error: unknown }[] = [];
      const work = async () => {
        for (let key = waiting.shift(); key; key = waiting.shift()) {
          const params = { organization_id: organizationId, key_id: key.id };
          await api
            .call('POST /api/organizations/{organization_id}/keys/{key_id}/revoke', { params })
            .catch((error: unknown) => key && failures.push({ key, error }));
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT_CALLS }, work));
      return failures;
    },
    onSuccess: async (failures) => {
      await queryClient.invalidateQueries({ queryKey: ['keys', organizationId] });
      onDone(failures.map(({ key }) => key));
      if (failures.length > 0) return;
      setOpen(false);
      toast(`${counted(keys.length, 'key')} revoked.`);
    },
  });
  const failures = revoke.data ?? [];
  const [first] = failures;
  return (
    <>
      <Button small kind="danger" onClick={() => setOpen(true)}>
        Revoke {counted(keys.length, 'key')}
      </Button>
      <Confirm
        danger
        open={open}
        onOpenChange={setOpen}
        title={`Revoke ${counted(keys.length, 'key')}?`}
        action="Revoke keys"
        typed="revoke"
        of={revoke}
        onConfirm={() => revoke.mutate()}
      >
        <p>
          Requests with these keys are rejected immediately. Requests in progress finish. This can’t be
          undone.
        </p>
        <ul className="max-h-40 list-disc overflow-auto pl-5">
          {keys.map(({ id, name, last4 }) => (
            <li key={id}>
              <Text className="font-medium text-ink">{name}</Text> (…{last4})
            </li>
          ))}
        </ul>
        {first && (
          <p role="alert" className="font-medium text-bad">
            {counted(failures.length, 'key')} could not be revoked. <Text>{first.key.name}</Text>:{' '}
            {messageOf(first.error)}
          </p>
        )}
      </Confirm>
    </>
  );
}
