import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { canSignInAgain } from './api/session-expiry';
import { createQueryClient } from './api/query-client';
import { createAppRouter } from './app/router';
import { ToastProvider } from './ui/toast';
import { TipProvider } from './ui/tooltip';
import './styles.css';

const queryClient = createQueryClient(() => {
  const { pathname, href } = router.state.location;
  if (pathname === '/sign-in' || canSignInAgain()) return;
  queryClient.clear();
  void router.navigate({ to: '/sign-in', search: { next: href } });
});
const router = createAppRouter(queryClient);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TipProvider>
        <ToastProvider>
          <RouterProvider router={router} />
        </ToastProvider>
      </TipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
