import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { configure, render } from '@testing-library/react';
import { createQueryClient } from '../api/query-client';
import { createAppRouter } from '../app/router';
import { ToastProvider } from '../ui/toast';
import { TipProvider } from '../ui/tooltip';

// A page's code is loaded when it is gone to, which a busy machine takes its time for.
configure({ asyncUtilTimeout: 20_000 });

/** The whole app at an address, as main.tsx puts it together. */
export function renderPage(address: string) {
  const queryClient = createQueryClient(() => undefined);
  const router = createAppRouter(queryClient, createMemoryHistory({ initialEntries: [address] }));
  render(
    <QueryClientProvider client={queryClient}>
      <TipProvider>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </TipProvider>
    </QueryClientProvider>,
  );
  return { router, queryClient };
}
