import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { configure, render } from '@testing-library/react';
import { createQueryClient } from '../api/query-client';
import { createAppRouter } from '../app/router';
import { ToastProvider } from '../ui/toast';
import { TipProvider } from '../ui/tooltip';

// Loading a page's code can be slow on a busy machine.
configure({ asyncUtilTimeout: 20_000 });

/** Renders the whole app at a path, as main.tsx does. */
export function renderPage(path: string) {
  const queryClient = createQueryClient(() => undefined);
  const router = createAppRouter(queryClient, createMemoryHistory({ initialEntries: [path] }));
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
