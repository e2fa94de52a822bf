import { withoutSecrets } from '@gateway/dashboard-contract/client';
import { signInErrorCodes } from '@gateway/dashboard-contract/sign-in-errors';
import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  defaultParseSearch,
  defaultStringifySearch,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router';
import { can, sessionQuery } from '../api/session';
import { readCreditSearch } from '../features/credit/search';
import { readGenerationSearch } from '../features/generations/search';
import { readCatalogueSearch } from '../features/operator/catalogue/search';
import { readAuditSearch } from '../features/organization/audit-search';
import { readUsageSearch } from '../features/usage/search';
import { defaultOrganization, storeLastOrganization } from './current-organization';
import { withPermission } from './with-permission';
import { LoadingPage, NotFoundPage, PageFailure } from './page-states';
import { enumParam, omitUndefined, requestIdParam, stringParam } from './search';
import { Shell } from './shell';

/** Every page with its path and search parameters. A page's code is loaded on navigation. */

interface RouterContext {
  readonly queryClient: QueryClient;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search) =>
    omitUndefined({
      next: stringParam(search, 'next'),
      error: enumParam(search, 'error', signInErrorCodes),
      request_id: requestIdParam(search, 'request_id'),
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

/** The routes below require a session. Others sign in first and return to the requested page. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session === null) {
      throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.href } });
    }
    // Everything else is refused until then.
    if (session.second_factor_setup_required && location.pathname !== '/account') {
      throw redirect({ to: '/account' });
    }
    return { session };
  },
  component: Shell,
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: async ({ context }) => {
    const organizationId = await defaultOrganization(context.queryClient);
    if (organizationId !== undefined)
      throw redirect({ to: '/o/$organizationId', params: { organizationId } });
    if (can(context.session, 'platform:organizations')) throw redirect({ to: '/welcome' });
  },
  component: lazyRouteComponent(
    () => import('../features/first-run/no-organization-page'),
    'NoOrganizationPage',
  ),
});
const welcome = createRoute({
  getParentRoute: () => signedIn,
  path: '/welcome',
  component: withPermission(
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
  beforeLoad: ({ params }) => storeLastOrganization(params.organizationId),
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
  validateSearch: (search) =>
    omitUndefined({
      show: stringParam(search, 'show'),
      find: stringParam(search, 'find'),
      owner: enumParam(search, 'owner', ['me', 'left']),
      project: stringParam(search, 'project'),
    }),
  component: lazyRouteComponent(() => import('../features/keys/keys-page'), 'KeysPage'),
});
const newKey = createRoute({
  getParentRoute: () => organization,
  path: '/keys/new',
  component: withPermission(
    'keys:manage_own',
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
  validateSearch: readCreditSearch,
  component: lazyRouteComponent(() => import('../features/credit/credit-page'), 'CreditPage'),
});
const playground = createRoute({
  getParentRoute: () => organization,
  path: '/playground',
  validateSearch: (search) => omitUndefined({ model: stringParam(search, 'model') }),
  component: withPermission(
    'playground:use',
    lazyRouteComponent(() => import('../features/playground/playground-page'), 'PlaygroundPage'),
  ),
});
const limits = createRoute({
  getParentRoute: () => organization,
  path: '/limits',
  component: lazyRouteComponent(() => import('../features/organization/limits-page'), 'LimitsPage'),
});
const offeredModels = createRoute({
  getParentRoute: () => organization,
  path: '/models',
  component: lazyRouteComponent(() => import('../features/models/models-page'), 'OfferedModelsPage'),
});
const projects = createRoute({
  getParentRoute: () => organization,
  path: '/projects',
  validateSearch: (search) => omitUndefined({ show: enumParam(search, 'show', ['archived']) }),
  component: lazyRouteComponent(() => import('../features/projects/projects-page'), 'ProjectsPage'),
});
const project = createRoute({
  getParentRoute: () => organization,
  path: '/projects/$projectId',
  component: lazyRouteComponent(() => import('../features/projects/project-page'), 'ProjectPage'),
});
const contentLog = createRoute({
  getParentRoute: () => organization,
  path: '/content-log',
  component: lazyRouteComponent(() => import('../features/organization/content-log-page'), 'ContentLogPage'),
});
const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  validateSearch: (search) =>
    omitUndefined({ find: stringParam(search, 'find'), action: enumParam(search, 'action', ['invite']) }),
  component: lazyRouteComponent(() => import('../features/organization/members-page'), 'MembersPage'),
});
const managementTokens = createRoute({
  getParentRoute: () => organization,
  path: '/management-tokens',
  component: withPermission(
    'management_tokens:manage',
    lazyRouteComponent(
      () => import('../features/management-tokens/management-tokens-page'),
      'ManagementTokensPage',
    ),
  ),
});
const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: withPermission(
    'audit:read',
    lazyRouteComponent(() => import('../features/organization/audit-page'), 'AuditPage'),
  ),
});

const operator = createRoute({ getParentRoute: () => signedIn, path: '/operator', component: Outlet });
const allOrganizations = createRoute({
  getParentRoute: () => operator,
  path: '/organizations',
  validateSearch: (search) =>
    omitUndefined({
      find: stringParam(search, 'find'),
      state: enumParam(search, 'state', ['active', 'suspended']),
      below: enumParam(search, 'below', ['1', '10', '100']),
    }),
  component: withPermission(
    'platform:organizations',
    lazyRouteComponent(() => import('../features/operator/organizations-page'), 'OrganizationsPage'),
  ),
});
const platformUsagePage = createRoute({
  getParentRoute: () => operator,
  path: '/usage',
  component: withPermission(
    'platform:organizations',
    lazyRouteComponent(() => import('../features/operator/platform-usage-page'), 'PlatformUsagePage'),
  ),
});
const catalogue = createRoute({
  getParentRoute: () => operator,
  path: '/catalogue',
  validateSearch: readCatalogueSearch,
  component: withPermission(
    'platform:models',
    lazyRouteComponent(() => import('../features/operator/catalogue/catalogue-page'), 'CataloguePage'),
  ),
});
const settlement = createRoute({
  getParentRoute: () => operator,
  path: '/settlement',
  validateSearch: (search) =>
    omitUndefined({
      dead_letters: enumParam(search, 'dead_letters', ['pending', 'redelivering', 'discarded']),
    }),
  component: withPermission(
    'platform:settlement',
    lazyRouteComponent(() => import('../features/operator/settlement-page'), 'SettlementPage'),
  ),
});
const notifications = createRoute({
  getParentRoute: () => operator,
  path: '/notifications',
  component: withPermission(
    'platform:notifications',
    lazyRouteComponent(() => import('../features/operator/notifications-page'), 'NotificationsPage'),
  ),
});
const people = createRoute({
  getParentRoute: () => operator,
  path: '/people',
  validateSearch: (search) => omitUndefined({ find: stringParam(search, 'find') }),
  component: withPermission(
    'platform:people',
    lazyRouteComponent(() => import('../features/operator/people-page'), 'PeoplePage'),
  ),
});
const platformTokens = createRoute({
  getParentRoute: () => operator,
  path: '/management-tokens',
  component: withPermission(
    'platform:management_tokens',
    lazyRouteComponent(
      () => import('../features/management-tokens/management-tokens-page'),
      'PlatformTokensPage',
    ),
  ),
});
const platformAudit = createRoute({
  getParentRoute: () => operator,
  path: '/audit',
  validateSearch: readAuditSearch,
  component: withPermission(
    'platform:audit',
    lazyRouteComponent(() => import('../features/operator/platform-audit-page'), 'PlatformAuditPage'),
  ),
});

/** Rendered inside the navigation. */
const missing = createRoute({ getParentRoute: () => signedIn, path: '$', component: NotFoundPage });

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
      offeredModels,
      projects,
      project,
      limits,
      contentLog,
      members,
      managementTokens,
      audit,
    ]),
    operator.addChildren([
      allOrganizations,
      platformUsagePage,
      catalogue,
      settlement,
      notifications,
      people,
      platformTokens,
      platformAudit,
    ]),
    missing,
  ]),
]);

/** @param history replaces the browser's history in tests. */
export function createAppRouter(queryClient: QueryClient, history?: RouterHistory) {
  return createRouter({
    routeTree: tree,
    ...(history ? { history } : {}),
    context: { queryClient },
    parseSearch: (text) => searchWithoutSecrets(defaultParseSearch(text)),
    stringifySearch: (search) => defaultStringifySearch(searchWithoutSecrets(search)),
    // Otherwise a parameter that validation dropped reaches the page without validation.
    search: { strict: true },
    defaultPreload: 'intent',
    defaultPendingComponent: LoadingPage,
    defaultPendingMs: 150,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: NotFoundPage,
  });
}

/** Addresses stay in histories and logs. */
function searchWithoutSecrets(search: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(search).map(([name, value]) => [
      name,
      typeof value === 'string' ? withoutSecrets(value) : value,
    ]),
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
