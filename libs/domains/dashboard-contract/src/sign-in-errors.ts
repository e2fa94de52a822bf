/**
 * Why a single sign-on came back without a session: what the sign-in page is told as `?error=…`, and says. Texts for the
 * person who signs in; what is behind it is in the logs under the request id that comes with it.
 */
export const signInErrors = {
  oidc_failed:
    'The single sign-on did not work: what came back from the provider cannot be believed. Try again.',
  oidc_denied: 'The single sign-on was cancelled, or the provider does not let you in here.',
  oidc_unavailable: 'The single sign-on cannot be reached right now. Try again in a moment.',
  oidc_not_begun:
    'This sign-in took too long, was used already, or was begun in another browser. Begin again.',
  oidc_email_not_verified:
    'The provider has not verified your email, so nobody can tell who you are here. Verify it there, then try again.',
  oidc_no_organization:
    'No organization here takes in people of your email’s domain. Ask your organization’s owner, or the operator.',
  oidc_other_identity:
    'The account with your email belongs to another identity at the provider. Ask the operator to look into it.',
  too_many_attempts: 'Too many attempts to sign in. Wait a quarter of an hour.',
} as const;

export type SignInErrorCode = keyof typeof signInErrors;
