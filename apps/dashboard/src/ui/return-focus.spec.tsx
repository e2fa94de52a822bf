/** @jest-environment @happy-dom/jest-environment */
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { Dialog, Drawer } from './dialog';
import { TipProvider } from './tooltip';

afterEach(cleanup);

it.each([
  ['dialog', Dialog],
  ['drawer', Drawer],
])('a %s returns the focus to the button that opened it', async (_name, Opened) => {
  function Page() {
    const [open, setOpen] = useState(false);
    return (
      <TipProvider>
        <button onClick={() => setOpen(true)}>Open</button>
        <Opened open={open} onOpenChange={setOpen} title="Opened">
          <button onClick={() => setOpen(false)}>Done</button>
        </Opened>
      </TipProvider>
    );
  }
  render(<Page />);
  const button = screen.getByRole('button', { name: 'Open' });
  await userEvent.click(button);
  await userEvent.click(await screen.findByRole('button', { name: 'Done' }));
  await waitFor(() => expect(document.activeElement).toBe(button));
});
