/** @jest-environment @happy-dom/jest-environment */
import { QueryClient, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { Confirm } from './confirm';
import { TipProvider } from './tooltip';

function Erase() {
  const [open, setOpen] = useState(false);
  const erase = useMutation({ mutationFn: () => Promise.reject(new Error('unavailable')) });
  return (
    <>
      <button onClick={() => setOpen(true)}>Open</button>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title="Erase?"
        action="Erase"
        of={erase}
        onConfirm={() => erase.mutate()}
      >
        <p>It cannot be restored.</p>
      </Confirm>
    </>
  );
}

afterEach(cleanup);

it('shows why a confirmed change failed, until the dialog is closed', async () => {
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <Erase />
      </TipProvider>
    </QueryClientProvider>,
  );
  const press = (name: string) => userEvent.click(screen.getByRole('button', { name }));
  await press('Open');
  await press('Erase');
  expect(await screen.findByRole('alert')).toBeDefined();
  await press('Cancel');
  await press('Open');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(screen.getByText('It cannot be restored.')).toBeDefined();
});
