import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router';
import { configure, render } from '@testing-library/react';
import { createQueryClient } from '../api/query-client';
import { createAppRouter } from '../app/router';
import { ToastProvider } from '../ui/toast';
import { TipProvider } from '../ui/tooltip';

// Loading a page's code can be slow on a busy machine.
configure({ asyncUtilTimeout: 20_000 });

/** React reads it: whether every update must be wrapped in `act`. */
declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}

/** Renders the whole app at a path, as main.tsx does. */
export function renderPage(path: string) {
  // Data arrives and tooltips unmount outside of `act`, as in a browser. A long list took a fifth of its time to print warnings.
  globalThis.IS_REACT_ACT_ENVIRONMENT = false;
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
