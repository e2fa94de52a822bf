import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  createManagementToken,
  managementTokensQuery,
  type NewManagementToken,
} from '../../api/management-tokens';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy';
import { Dialog, DialogActions } from '../../ui/dialog';
import { Field, Input, Select } from '../../ui/field';
import { DialogForm } from '../../ui/form';
import { Notice } from '../../ui/notice';

const DAY_MS = 86_400_000;
/** As the server bounds them. */
const MAX_DAYS = 366;
const DEFAULT_DAYS = 90;

const dayAfter = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const newToken = (): NewManagementToken => ({
  name: '',
  access: 'read',
  role: 'member',
  expires_on: dayAfter(DEFAULT_DAYS),
});

interface CreateProps {
  readonly organizationId: string | undefined;
}

export function CreateManagementToken({ organizationId }: CreateProps) {
  const [open, setOpen] = useState(false);
  const [token, setToken] = useState(newToken);
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: () => createManagementToken(organizationId, { ...token, name: token.name.trim() }),
    onSuccess: () =>
      queryClient.invalidateQueries({ queryKey: managementTokensQuery(organizationId).queryKey }),
  });
  const close = (next: boolean) => {
    setOpen(next);
    if (!next) {
      create.reset();
      setToken(newToken());
    }
  };
  return (
    <>
      <Button kind="primary" icon="plus" onClick={() => setOpen(true)}>
        Create token
      </Button>
      <Dialog open={open} onOpenChange={close} title="Create token" persistent={create.data !== undefined}>
        {create.data ? (
          <Secret secret={create.data.secret} onDone={() => close(false)} />
        ) : (
          <DialogForm
            of={create}
            action="Create token"
            onSubmit={() => create.mutate()}
            onCancel={() => close(false)}
          >
            <Field label="Name" hint="The script that uses it.">
              <Input
                required
                autoFocus
                maxLength={100}
                value={token.name}
                onChange={({ target }) => setToken({ ...token, name: target.value })}
              />
            </Field>
            <Field
              label="Access"
              hint="Read shows what the role can view. Read and change also makes the changes that it allows."
            >
              <Select
                value={token.access}
                onChange={({ target }) =>
                  setToken({ ...token, access: target.value as NewManagementToken['access'] })
                }
              >
                <option value="read">Read</option>
                <option value="read_write">Read and change</option>
              </Select>
            </Field>
            {organizationId !== undefined && (
              <Field
                label="Role"
                hint="No token manages API keys, tokens, owners or how people sign in, whatever its role."
              >
                <Select
                  value={token.role}
                  onChange={({ target }) =>
                    setToken({ ...token, role: target.value as NewManagementToken['role'] })
                  }
                >
                  <option value="member">Member</option>
                  <option value="billing">Billing</option>
                  <option value="admin">Admin</option>
                </Select>
              </Field>
            )}
            <Field label="Last valid day (UTC)" hint="At most a year ahead.">
              <Input
                type="date"
                required
                min={dayAfter(0)}
                max={dayAfter(MAX_DAYS)}
                value={token.expires_on}
                onChange={({ target }) => setToken({ ...token, expires_on: target.value })}
              />
            </Field>
          </DialogForm>
        )}
      </Dialog>
    </>
  );
}

/** Shown only once, since only its hash is stored. */
function Secret({ secret, onDone }: { readonly secret: string; readonly onDone: () => void }) {
  return (
    <div className="grid gap-4">
      <Notice tone="good" title="Token created">
        Store it securely. Only a hash is stored here, so a lost token can’t be recovered.
      </Notice>
      <Input
        readOnly
        aria-label="Token"
        className="font-mono !text-sm"
        value={secret}
        onFocus={({ target }) => target.select()}
      />
      <DialogActions>
        <CopyButton text={secret} what="token" />
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </div>
  );
}
