/**
 * Why a single sign-on failed: codes of the sign-in page's `?error=…` and their texts. The logs have
 * the cause under the request id in the same URL.
 */
export const signInErrors = {
  oidc_failed: 'Sign-in could not be verified. Try again.',
  oidc_denied: 'Sign-in was cancelled, or your identity provider denied access.',
  oidc_unavailable: 'Your identity provider is temporarily unavailable. Try again in a moment.',
  oidc_state_invalid: 'This sign-in expired, was already used, or was started in another browser. Try again.',
  oidc_email_not_verified:
    'Your identity provider has not verified your email. Verify it there, then try again.',
  oidc_no_organization:
    'No organization accepts your email’s domain. Contact your organization’s owner or the operator.',
  oidc_identity_mismatch:
    'The account with your email is linked to another identity at your provider. Contact the operator.',
  account_disabled: 'Your account is disabled. Contact the operator.',
  too_many_attempts: 'Too many sign-in attempts. Try again in 15 minutes.',
} as const;

export type SignInErrorCode = keyof typeof signInErrors;

export const signInErrorCodes = Object.keys(signInErrors) as SignInErrorCode[];
