import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router';
import { organizationsQuery } from '../api/organizations';
import { may, sessionQuery } from '../api/session';
import { readGenerationSearch } from '../features/generations/search';
import { readAuditSearch } from '../features/organization/audit-search';
import { readUsageSearch } from '../features/usage/search';
import { chooseOrganization, rememberOrganization } from './current-organization';
import { forRole } from './guard';
import { LoadingPage, MissingPage, PageFailure } from './page-states';
import { oneOfIn, present, textIn } from './search';
import { Shell } from './shell';

/** Every page, its address, and what its address may hold. A page's code is loaded when it is gone to. */

interface RouterContext {
  readonly queryClient: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  notFoundComponent: MissingPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search) =>
    present({
      next: textIn(search, 'next'),
      error: textIn(search, 'error'),
      request_id: textIn(search, 'request_id'),
    }),
  component: lazyRouteComponent(() => import('../features/sign-in/sign-in-page'), 'SignInPage'),
});
const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(
    () => import('../features/sign-in/forgot-password-page'),
    'ForgotPasswordPage',
  ),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('../features/sign-in/reset-password-page'), 'ResetPasswordPage'),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('../features/sign-in/invitation-page'), 'InvitationPage'),
});

/** All that follows is for whoever is signed in; others sign in first, and come back to where they wanted to go. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) {
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } });
    }
    return { session };
  },
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async ({ context }) => {
    const organizations = await context.queryClient.ensureQueryData(organizationsQuery);
    const organizationId = chooseOrganization(organizations);
    if (organizationId !== undefined)
      throw redirect({ to: '/o/$organizationId', params: { organizationId } });
    if (may(context.session, 'platform:organizations')) throw redirect({ to: '/welcome' });
  },
  component: lazyRouteComponent(() => import('../features/first-run/nowhere-page'), 'NowherePage'),
});
const welcome = createRoute({
  getParentRoute: () => signedIn,
  path: '/welcome',
  component: forRole(
    'platform:organizations',
    lazyRouteComponent(() => import('../features/first-run/first-run-page'), 'FirstRunPage'),
  ),
});
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyRouteComponent(() => import('../features/account/account-page'), 'AccountPage'),
});

const organization = createRoute({
  getParentRoute: () => signedIn,
  path: '/o/$organizationId',
  beforeLoad: ({ params }) => rememberOrganization(params.organizationId),
  component: Outlet,
});
const overview = createRoute({
  getParentRoute: () => organization,
  path: '/',
  component: lazyRouteComponent(() => import('../features/overview/overview-page'), 'OverviewPage'),
});
const keys = createRoute({
  getParentRoute: () => organization,
  path: '/keys',
  validateSearch: (search) => present({ show: textIn(search, 'show'), find: textIn(search, 'find') }),
  component: lazyRouteComponent(() => import('../features/keys/keys-page'), 'KeysPage'),
});
const newKey = createRoute({
  getParentRoute: () => organization,
  path: '/keys/new',
  component: forRole(
    'keys:manage',
    lazyRouteComponent(() => import('../features/keys/new-key-page'), 'NewKeyPage'),
  ),
});
const key = createRoute({
  getParentRoute: () => organization,
  path: '/keys/$keyId',
  component: lazyRouteComponent(() => import('../features/keys/key-page'), 'KeyPage'),
});
const usage = createRoute({
  getParentRoute: () => organization,
  path: '/usage',
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import('../features/usage/usage-page'), 'UsagePage'),
});
const generations = createRoute({
  getParentRoute: () => organization,
  path: '/generations',
  validateSearch: readGenerationSearch,
  component: lazyRouteComponent(() => import('../features/generations/generations-page'), 'GenerationsPage'),
});
const generation = createRoute({
  getParentRoute: () => organization,
  path: '/generations/$generationId',
  component: lazyRouteComponent(() => import('../features/generations/generation-page'), 'GenerationPage'),
});
const credit = createRoute({
  getParentRoute: () => organization,
  path: '/credit',
  validateSearch: (search) => present({ month: textIn(search, 'month') }),
  component: lazyRouteComponent(() => import('../features/credit/credit-page'), 'CreditPage'),
});
const playground = createRoute({
  getParentRoute: () => organization,
  path: '/playground',
  validateSearch: (search) => present({ model: textIn(search, 'model') }),
  component: forRole(
    'playground:use',
    lazyRouteComponent(() => import('../features/playground/playground-page'), 'PlaygroundPage'),
  ),
});
const limits = createRoute({
  getParentRoute: () => organization,
  path: '/limits',
  component: lazyRouteComponent(() => import('../features/organization/limits-page'), 'LimitsPage'),
});
const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: lazyRouteComponent(() => import('../features/organization/members-page'), 'MembersPage'),
});
const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: forRole(
    'audit:read',
    lazyRouteComponent(() => import('../features/organization/audit-page'), 'AuditPage'),
  ),
});

const operator = createRoute({ getParentRoute: () => signedIn, path: '/operator', component: Outlet });
const allOrganizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  validateSearch: (search) => present({ find: textIn(search, 'find') }),
  component: forRole(
    'platform:organizations',
    lazyRouteComponent(() => import('../features/operator/organizations-page'), 'OrganizationsPage'),
  ),
});
const models = createRoute({
  getParentRoute: () => operator,
  path: '/models',
  component: forRole(
    'platform:models',
    lazyRouteComponent(() => import('../features/operator/models-page'), 'ModelsPage'),
  ),
});
const providers = createRoute({
  getParentRoute: () => operator,
  path: '/providers',
  component: forRole(
    'platform:models',
    lazyRouteComponent(() => import('../features/operator/providers-page'), 'ProvidersPage'),
  ),
});
const settlement = createRoute({
  getParentRoute: () => operator,
  path: '/settlement',
  validateSearch: (search) =>
    present({ letters: oneOfIn(search, 'letters', ['waiting', 'redelivering', 'discarded']) }),
  component: forRole(
    'platform:settlement',
    lazyRouteComponent(() => import('../features/operator/settlement-page'), 'SettlementPage'),
  ),
});
const people = createRoute({
  getParentRoute: () => operator,
  path: '/people',
  component: forRole(
    'platform:people',
    lazyRouteComponent(() => import('../features/operator/people-page'), 'PeoplePage'),
  ),
});
const wholeAudit = createRoute({
  getParentRoute: () => operator,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: forRole(
    'platform:audit',
    lazyRouteComponent(() => import('../features/operator/whole-audit-page'), 'WholeAuditPage'),
  ),
});

/** Inside of the navigation, so that one finds on from there. */
const missing = createRoute({ getParentRoute: () => signedIn, path: '$', component: MissingPage });

const tree = root.addChildren([
  signIn,
  forgotPassword,
  resetPassword,
  invitation,
  signedIn.addChildren([
    home,
    welcome,
    account,
    organization.addChildren([
      overview,
      keys,
      newKey,
      key,
      usage,
      generations,
      generation,
      credit,
      playground,
      limits,
      members,
      audit,
    ]),
    operator.addChildren([allOrganizations, models, providers, settlement, people, wholeAudit]),
    missing,
  ]),
]);

/** @param history another than the browser's own, for tests. */
export function createAppRouter(queryClient: QueryClient, history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    ...(history ? { history } : {}),
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPendingComponent: LoadingPage,
    defaultPendingMs: 150,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: MissingPage,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
